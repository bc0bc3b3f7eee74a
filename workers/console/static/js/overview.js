// The charts of the overview, from the same figures as its table; renewed every 30 seconds.

import { bad, doubt, draw, good, isoOf, nearestLine, seconds, styleOf } from "./charts.js";

const RENEW_MS = 30_000;
const SLOW_MS = 3_000;
const stale = document.getElementById("stale");
let drawnAt = new Date();
const holder = document.getElementById("charts");

/** Series of each chart: name, how a point becomes a number, and the colour of what is good or bad. */
const KINDS = {
  risk: [
    ["low", (p) => p.low, good],
    ["medium", (p) => p.medium, doubt],
    ["high", (p) => p.high, bad],
    ["none", (p) => p.without_risk],
  ],
  quality: [
    ["grounding", (p) => p.grounding],
    ["quality", (p) => p.quality],
    ["overall", (p) => p.gate],
  ],
  throughput: [["a minute", (p, bucket) => (60 * p.answers) / bucket]],
  delay: [
    ["median", (p) => p.delay_p50],
    ["95 %", (p) => p.delay_p95],
  ],
};

const MODEL_KINDS = {
  models: (point) => point.answers,
  tokens: (point) => point.prompt_tokens + point.completion_tokens,
  cost: (point) => point.cost,
};
const VALUES = { risk: "count", models: "count", tokens: "count", quality: "share", cost: "money" };
const MOST_LINES = 5;

/** Series of a chart; those of models follow from the figures. */
function seriesOf(kind, figures) {
  const value = MODEL_KINDS[kind];
  if (!value) return KINDS[kind].map(([label, of, stroke]) => ({ label, stroke, values: figures.series.map((point) => of(point, lengthOf(point, figures))) }));
  const [found, totals] = [new Map(), new Map()];
  for (const point of figures.model_series) {
    if (value(point) === null) continue;
    found.set(`${point.at} ${point.model_id}`, value(point));
    totals.set(point.model_id, (totals.get(point.model_id) ?? 0) + value(point));
  }
  const drawn = new Set([...totals.keys()].sort((one, other) => totals.get(other) - totals.get(one)).slice(0, MOST_LINES));
  // A model has the same colour in each chart.
  const inSeries = new Set(figures.model_series.map((point) => point.model_id));
  const styles = [...new Set([...figures.models.map((model) => model.model_id), ...inSeries])].filter((name) => inSeries.has(name));
  return styles
    .map((label, index) => ({ label, ...styleOf(index), values: figures.series.map((point) => found.get(`${point.at} ${label}`) ?? 0) }))
    .filter(({ label }) => drawn.has(label));
}

function drawFigures(element, figures) {
  const kind = element.dataset.chart;
  const shown = {
    times: figures.series.map((point) => seconds(point.at)),
    since: seconds(figures.since),
    until: seconds(figures.until),
    bucket: figures.bucket_seconds,
    kind: VALUES[kind] ?? "number",
    series: seriesOf(kind, figures),
  };
  draw(element, shown, (chart) => openAnswers(chart, kind, figures));
}

const FILTERS = { risk: "risk", models: "model", tokens: "model", cost: "model" };

/** List the answers of the interval under the pointer; near a line of a risk or a model, those of it alone. */
function openAnswers(chart, kind, figures) {
  const point = figures.series[chart.cursor.idx];
  if (!point) return;
  const from = seconds(point.at);
  const search = new URLSearchParams({ evaluated_since: isoOf(Math.max(from, seconds(figures.since))), evaluated_until: isoOf(from + figures.bucket_seconds) });
  if (holder.dataset.tenant) search.set("tenant", holder.dataset.tenant);
  const line = FILTERS[kind] && nearestLine(chart);
  if (line) search.set(FILTERS[kind], line);
  location.assign(`/search?${search}`);
}

/** Seconds of an interval that have passed. */
const lengthOf = (point, figures) => Math.max(1, Math.min(figures.bucket_seconds, seconds(figures.until) - seconds(point.at)));

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
    for (const element of holder.querySelectorAll(".chart")) drawFigures(element, figures);
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
