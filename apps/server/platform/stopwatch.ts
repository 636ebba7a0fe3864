/**
 * Starts to count; the result tells how many milliseconds have passed, by the clock that says more. The monotonic one stands still while a
 * virtual machine is suspended, the other one may be set back.
 */
export function stopwatch(): () => number {
  const startedAt = performance.now()
  const startedOn = Date.now()
  return () => Math.max(performance.now() - startedAt, Date.now() - startedOn)
}
