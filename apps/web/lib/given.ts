/**
 * A finished page holds both sides of what an installation may or may not have; its root element carries the values (`data-demo`, …) that
 * the server fills in, and so says which side is shown.
 */
export const whenGiven = {
  demo: "in-[[data-demo='']]:hidden",
  contact: "in-[[data-contact='']]:hidden",
  survey: "in-[[data-survey='']]:hidden",
}

/** The other side of `whenGiven`. */
export const whenMissing = {
  demo: "in-[[data-demo]:not([data-demo=''])]:hidden",
  contact: "in-[[data-contact]:not([data-contact=''])]:hidden",
  survey: "in-[[data-survey]:not([data-survey=''])]:hidden",
}

/** What is said of figures and testimonials while they are examples. */
export const whenExample = {
  figures: "in-[[data-example-figures='false']]:hidden",
  testimonials: "in-[[data-example-testimonials='false']]:hidden",
}
