// The charts of the overview, from the same figures as its table; renewed every 30 seconds.

/* global uPlot */

const RENEW_MS = 30_000;
const SLOW_MS = 3_000;
const stale = document.getElementById("stale");
let drawnAt = new Date();
const holder = document.getElementById("charts");
const colours = getComputedStyle(document.documentElement);
const charts = new Map();

/** A colour of the page, resolved for the canvas. */
function colour(name) {
  const probe = document.createElement("span");
  probe.className = name;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const ink = colours.color;
const [good, doubt, bad] = ["supported", "unsupported", "contradicted"].map((each) => colour(`verdict ${each}`));
const data = colour("citation data");

/** Series of each chart: name, colour, and how a point becomes a number. */
const KINDS = {
  risk: [
    ["low", good, (p) => p.low],
    ["medium", doubt, (p) => p.medium],
    ["high", bad, (p) => p.high],
  ],
  quality: [
    ["grounding", data, (p) => p.grounding],
    ["quality", good, (p) => p.quality],
    ["gate", doubt, (p) => p.gate],
  ],
  throughput: [["a minute", data, (p, bucket) => (60 * p.answers) / bucket]],
  delay: [
    ["median", data, (p) => p.delay_p50],
    ["95 %", doubt, (p) => p.delay_p95],
  ],
};

const PALETTE = [data, good, doubt, bad, colour("citation memory")];
const MODEL_KINDS = { models: (point) => point.answers, tokens: (point) => point.prompt_tokens + point.completion_tokens };
const WHOLE = new Set(["risk", "models", "tokens"]);

/** Series of a chart; those of models follow from the figures. */
function seriesOf(kind, figures) {
  const value = MODEL_KINDS[kind];
  if (!value) return KINDS[kind];
  const found = new Map(figures.model_series.map((point) => [`${point.at} ${point.model_id}`, value(point)]));
  const names = figures.models.map((model) => model.model_id).filter((name) => figures.model_series.some((point) => point.model_id === name));
  return names.map((name, index) => [name, PALETTE[index % PALETTE.length], (point) => found.get(`${point.at} ${name}`) ?? 0]);
}

const seconds = (time) => Date.parse(time) / 1000;
const isoOf = (time) => new Date(time * 1000).toISOString();

/** Labels of the time axis: 24 hours in UTC, as in the tables; the day where a day begins. */
const timeLabels = (_, times, __, ___, step) =>
  times.map((time) => (step >= 86_400 || time % 86_400 === 0 ? isoOf(time).slice(5, 10) : isoOf(time).slice(11, 16)));

const WHOLE_STEPS = [1, 2, 5].flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power)).sort((one, other) => one - other);
const GRID = { stroke: "rgba(128,128,128,.2)" };

/** Shade the interval that is not over. */
function shadeUnfinished(chart, from, until) {
  const [left, right] = [from, until].map((time) => chart.valToPos(time, "x", true));
  chart.ctx.fillStyle = "rgba(128,128,128,.18)";
  chart.ctx.fillRect(left, chart.bbox.top, right - left, chart.bbox.height);
}

/** Options of a chart: counts and seconds begin at zero, shares span 0 to 1, the time is the whole period. */
function optionsOf(element, figures, series) {
  const kind = element.dataset.chart;
  const counts = WHOLE.has(kind);
  const [since, until] = [seconds(figures.since), seconds(figures.until)];
  const last = figures.series.length ? seconds(figures.series.at(-1).at) : until;
  return {
    width: element.clientWidth,
    height: 200,
    tzDate: (time) => uPlot.tzDate(new Date(time * 1000), "Etc/UTC"),
    scales: {
      x: { range: () => [Math.min(since, last), until] },
      y: { range: kind === "quality" ? [0, 1] : (_, __, most) => [0, Math.max(counts ? 1 : 0.01, (most ?? 0) * 1.05)] },
    },
    hooks: last + figures.bucket_seconds > until ? { drawClear: [(chart) => shadeUnfinished(chart, last, until)] } : {},
    axes: [
      { stroke: ink, grid: GRID, values: timeLabels },
      { stroke: ink, grid: GRID, size: 56, ...(counts ? { incrs: WHOLE_STEPS } : {}) },
    ],
    series: [
      { label: "UTC", value: (_, time) => (time == null ? "–" : isoOf(time).slice(0, 16).replace("T", " ")) },
      ...series.map(([label, stroke], index) => ({
        label,
        stroke,
        width: 2,
        dash: [[], [6, 4], [2, 3], [8, 3, 2, 3], [1, 4]][index],
        points: { show: figures.series.length < 60, size: 5 },
        spanGaps: true,
        value: (_, value) => (value == null ? "–" : counts ? String(value) : value.toFixed(2)),
      })),
    ],
  };
}

function draw(element, figures) {
  const series = seriesOf(element.dataset.chart, figures);
  const times = figures.series.map((point) => seconds(point.at));
  const values = series.map(([, , value]) => figures.series.map((point) => value(point, lengthOf(point, figures))));
  charts.get(element)?.destroy();
  const chart = new uPlot(optionsOf(element, figures, series), [times, ...values], element);
  charts.set(element, chart);
  chart.over.addEventListener("click", () => openAnswers(chart, element.dataset.chart, figures));
  sizes.observe(element);
}

const NEAR_PX = 16;
const FILTERS = { risk: "risk", models: "model", tokens: "model" };

/** List the answers of the interval under the pointer; near a line of a risk or a model, those of it alone. */
function openAnswers(chart, kind, figures) {
  const place = chart.cursor.idx;
  const point = figures.series[place];
  if (!point) return;
  const from = seconds(point.at);
  const search = new URLSearchParams({ evaluated_since: isoOf(Math.max(from, seconds(figures.since))), evaluated_until: isoOf(from + figures.bucket_seconds) });
  if (holder.dataset.tenant) search.set("tenant", holder.dataset.tenant);
  const distance = (each) => Math.abs(chart.valToPos(each.value, "y") - chart.cursor.top);
  const lines = chart.series.slice(1).map(({ label }, index) => ({ label, value: chart.data[index + 1][place] }));
  const [nearest] = lines.filter((each) => each.value != null).sort((one, other) => distance(one) - distance(other));
  if (FILTERS[kind] && nearest?.value && distance(nearest) <= NEAR_PX) search.set(FILTERS[kind], nearest.label);
  location.assign(`/search?${search}`);
}

/** Seconds of an interval that have passed. */
const lengthOf = (point, figures) => Math.max(1, Math.min(figures.bucket_seconds, seconds(figures.until) - seconds(point.at)));

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const chart = charts.get(target);
    if (chart && chart.width !== target.clientWidth) chart.setSize({ width: target.clientWidth, height: 200 });
  }
});

/** Say since when the figures are not renewed, and why. */
function tellStale(reason) {
  const words = document.createTextNode(`The charts show the figures of ${drawnAt.toISOString().slice(11, 19)} UTC: ${reason}. `);
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = "Load the page again";
  stale.replaceChildren(words, link);
}

async function renew() {
  const search = new URLSearchParams({ period: holder.dataset.period });
  if (holder.dataset.tenant) search.set("tenant", holder.dataset.tenant);
  const slow = setTimeout(() => tellStale("the console has not answered yet"), SLOW_MS);
  try {
    const response = await fetch(`/api/overview?${search}`);
    if (!response.ok) throw new Error(response.status === 401 ? "your session has ended" : `the console answered ${response.status}`);
    const figures = await response.json();
    for (const element of holder.querySelectorAll(".chart")) draw(element, figures);
    holder.dataset.drawn = "true";
    drawnAt = new Date();
    stale.replaceChildren();
  } catch (error) {
    tellStale(error instanceof TypeError ? "the console does not answer" : error.message);
  } finally {
    clearTimeout(slow);
  }
}

renew();
setInterval(() => document.visibilityState === "visible" && renew(), RENEW_MS);
addEventListener("appearance", () => location.reload());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => location.reload());
