// The time in which somebody works on a request: beyond a minute without a sign of life nothing counts.

const IDLE_MS = 60_000;

export const active = {
  seconds: 0,
  since: 0,
  seen: 0,
  /** Begin a request with the active time that it has had, in seconds. */
  reset(seconds = 0) {
    this.seconds = seconds;
    this.since = this.seen = performance.now();
  },
  /** Count the time up to now, but no more than a minute behind the last sign of life. */
  count() {
    const now = performance.now();
    if (document.visibilityState === "visible") this.seconds += Math.max(0, Math.min(now, this.seen + IDLE_MS) - this.since) / 1000;
    this.since = now;
  },
  touch() {
    this.count();
    this.seen = performance.now();
  },
};
for (const name of ["keydown", "pointermove", "pointerdown", "wheel", "scroll"]) {
  document.addEventListener(name, () => active.touch(), { passive: true, capture: true });
}
document.addEventListener("visibilitychange", () => {
  // While hidden nothing counts: what came before is counted, what follows begins anew.
  if (document.visibilityState === "hidden") {
    active.seconds += Math.max(0, Math.min(performance.now(), active.seen + IDLE_MS) - active.since) / 1000;
  }
  active.since = performance.now();
});
