// When the request on the page was painted: a key or click from before then was meant for the request before.

let paintedAt = Infinity;
let shown = 0;

/** Note that a request was put on the page, and run something once it was painted. */
export function notePaint(run) {
  const number = ++shown;
  paintedAt = Infinity;
  // The callback of a frame comes before its paint, a task behind it after.
  requestAnimationFrame(() =>
    setTimeout(() => {
      if (number !== shown) return;
      paintedAt = performance.now();
      run();
    }),
  );
}

/** Whether the request was on the screen when a key or button was pressed. */
export const wasPainted = (event) => event.timeStamp >= paintedAt;
