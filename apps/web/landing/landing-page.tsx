import type { SiteSettings } from '@vigia/contract/site'
import { shownWithPlans } from '../lib/site.ts'
import { Benefits } from './benefits.tsx'
import { Closing } from './closing.tsx'
import { DemoDialog } from './demo-dialog.tsx'
import { Footer } from './footer.tsx'
import { Header } from './header.tsx'
import { Hero } from './hero.tsx'
import { Pictures } from './pictures.tsx'
import { Plans } from './plans.tsx'
import { Questions } from './questions.tsx'
import { Testimonials } from './testimonials.tsx'
import { WriteToUs } from './write-to-us.tsx'

type LandingSite = Pick<SiteSettings, 'productName' | 'contactEmail' | 'demo' | 'numeros' | 'depoimentos'>

interface LandingPageProps {
  site: LandingSite
  preloadContact: () => void
}

/**
 * The landing page. Rendered at build and shown without scripts, so it uses only its properties,
 * which are placeholders that the server fills.
 */
export function LandingPage({ site, preloadContact }: LandingPageProps) {
  return (
    <div className="relative text-lg">
      <Header productName={site.productName} />
      <main>
        <Hero />
        <Pictures />
        <Benefits figures={site.numeros} />
        <div className={shownWithPlans}>
          <Plans preloadContact={preloadContact} />
        </div>
        <Questions />
        <Testimonials testimonials={site.depoimentos} />
        <Closing preloadContact={preloadContact} />
      </main>
      <Footer productName={site.productName} contactEmail={site.contactEmail ?? ''} />
      <DemoDialog demo={site.demo} preloadContact={preloadContact} />
      <WriteToUs email={site.contactEmail ?? ''} />
    </div>
  )
}
