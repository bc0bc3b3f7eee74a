// Draw a chart over time: UTC, counts from zero, the unfinished interval shaded.

/* global uPlot */

const charts = new Map();
const drawn = new Map(); // what each chart shows, to draw it once more in other colours

/** A function that resolves a colour of the page, as it is when it is drawn, for the canvas. */
const colour = (name) => () => resolved(name);

function resolved(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const ink = () => getComputedStyle(document.documentElement).color;
export const [good, doubt, bad] = ["good", "doubt", "bad"].map(colour);
// Lines that are neither good nor bad: a name that happened to be red would seem to be worse.
const PALETTE = ["data", "memory", "cyan", "calculation", "ink"].map(colour);
const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3], [1, 4]];

/** Colour and dashes of the lines by their number: ten that differ. */
export const styleOf = (index) => ({ stroke: PALETTE[index % PALETTE.length], dash: DASHES[(index + Math.floor(index / PALETTE.length)) % DASHES.length] });

export const seconds = (time) => Date.parse(time) / 1000;
export const isoOf = (time) => new Date(time * 1000).toISOString();

/** Labels of the time axis: 24 hours in UTC, as in the tables; the day where a day begins. */
const timeLabels = (_, times, __, ___, step) =>
  times.map((time) => (step >= 86_400 || time % 86_400 === 0 ? isoOf(time).slice(5, 10) : isoOf(time).slice(11, 16)));

const COMPACT_FROM = 100_000; // a label of more digits takes the place of the chart
const MOST_DIGITS = 12;

/** Digits after the point that a value needs to differ from its neighbours at a distance. */
const digitsOf = (distance) => Math.min(MOST_DIGITS, Math.max(0, Math.ceil(-Math.log10(distance) - 1e-9)));

/** Format a number with thousands separators and at most this many digits after the point. */
const plain = (value, most, least = 0) => value.toLocaleString("en", { minimumFractionDigits: least, maximumFractionDigits: most });

/** Labels of the value axis: thousands separators, from 100,000 on units (K, M), as many digits as the steps have. */
function valueLabels(_, values) {
  const step = Math.min(...values.slice(1).map((value, place) => value - values[place]));
  if (Math.max(...values) >= COMPACT_FROM) return values.map((value) => value.toLocaleString("en", { notation: "compact", maximumFractionDigits: 2 }));
  // A step such as 0.25 has more digits than its magnitude.
  const digits = [0, 1].map((more) => digitsOf(step) + more).find((most) => Math.abs(step - Number(step.toFixed(most))) < step / 100);
  return values.map((value) => plain(value, digits ?? MOST_DIGITS));
}

/** The width of an axis: that of its widest label as it is drawn. */
function widthOf(chart, labels, axis) {
  const { font, gap, ticks } = chart.axes[axis];
  chart.ctx.save();
  chart.ctx.font = font[0];
  const widest = Math.max(0, ...(labels ?? []).map((label) => chart.ctx.measureText(label).width));
  chart.ctx.restore();
  return Math.ceil(ticks.size + gap + widest / devicePixelRatio) + 2;
}

const WHOLE_STEPS = [1, 2, 5].flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power)).sort((one, other) => one - other);
const GRID = { stroke: "rgba(128,128,128,.2)" };

/** Shade the interval that is not over. */
function shadeUnfinished(chart, from, until) {
  const [left, right] = [from, until].map((time) => chart.valToPos(time, "x", true));
  chart.ctx.fillStyle = "rgba(128,128,128,.18)";
  chart.ctx.fillRect(left, chart.bbox.top, right - left, chart.bbox.height);
}

/** How values are told: counts whole, others with two digits after the point; small ones with two significant digits. */
function words(value, kind) {
  if (value == null) return "–";
  if (kind === "count") return plain(value, 0);
  const digits = kind !== "share" && value > 0 && value < 1 ? Math.max(2, 1 - Math.floor(Math.log10(value))) : 2;
  return plain(value, digits, digits);
}

/**
 * Options of a chart: counts, money and seconds begin at zero, shares span 0 to 1, the time is the whole period.
 *
 * `shown` has the start of each interval (`times`) and of the period (`since`), its end (`until`), the length of an
 * interval (`bucket`), all in seconds, the `kind` of the values (count, share, money or number), and `series`: label,
 * values, and where they have them colour, dashes and what to say of the value at a place (`note`).
 */
function optionsOf(element, shown) {
  const last = shown.times.at(-1) ?? shown.until;
  const least = { count: 1, money: 1e-6 }[shown.kind] ?? 0.001;
  return {
    width: element.clientWidth,
    height: 200,
    tzDate: (time) => uPlot.tzDate(new Date(time * 1000), "Etc/UTC"),
    scales: {
      x: { range: () => [Math.min(shown.since, last), shown.until] },
      y: { range: shown.kind === "share" ? [0, 1] : (_, __, most) => [0, Math.max(least, (most ?? 0) * 1.05)] },
    },
    hooks: last + shown.bucket > shown.until || shown.unfinished ? { drawClear: [(chart) => shadeUnfinished(chart, last, shown.until)] } : {},
    axes: [
      { stroke: ink, grid: GRID, values: timeLabels },
      { stroke: ink, grid: GRID, size: widthOf, values: valueLabels, ...(shown.kind === "count" ? { incrs: WHOLE_STEPS } : {}) },
    ],
    series: [
      { label: "UTC", value: (_, time) => (time == null ? "–" : isoOf(time).slice(0, 16).replace("T", " ")) },
      ...shown.series.map(({ label, stroke, dash, note }, index) => ({
        label,
        ...styleOf(index),
        ...(stroke ? { stroke } : {}),
        ...(dash ? { dash } : {}),
        width: 2,
        points: { show: shown.times.length < 60, size: 5 },
        spanGaps: true,
        value: (_, value, __, place) => words(value, shown.kind) + (value != null && note ? ` (${note(place)})` : ""),
      })),
    ],
  };
}

/** Draw a chart in place of the one before; `open` is called with the chart on a click. */
export function draw(element, shown, open) {
  charts.get(element)?.destroy();
  drawn.set(element, [shown, open]);
  const chart = new uPlot(optionsOf(element, shown), [shown.times, ...shown.series.map(({ values }) => values)], element);
  charts.set(element, chart);
  if (open) chart.over.addEventListener("click", () => open(chart));
  sizes.observe(element);
}

const NEAR_PX = 16;

/** The label of the line under the pointer; nothing where no line is near. */
export function nearestLine(chart) {
  const place = chart.cursor.idx;
  const distance = (each) => Math.abs(chart.valToPos(each.value, "y") - chart.cursor.top);
  const lines = chart.series.slice(1).map(({ label }, index) => ({ label, value: chart.data[index + 1][place] }));
  const [nearest] = lines.filter((each) => each.value != null).sort((one, other) => distance(one) - distance(other));
  return nearest?.value && distance(nearest) <= NEAR_PX ? nearest.label : null;
}

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const chart = charts.get(target);
    if (chart && chart.width !== target.clientWidth) chart.setSize({ width: target.clientWidth, height: 200 });
  }
});

function drawInNewColours() {
  for (const [element, [shown, open]] of drawn) draw(element, shown, open);
}
addEventListener("appearance", drawInNewColours);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawInNewColours);
