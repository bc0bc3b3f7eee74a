// The share of answers that reviewers approve unchanged, over time.

import { draw, isoOf, nearestLine, seconds } from "./charts.js";

const MOST_LINES = 5;
const OTHERS = "all others";
const LENGTHS = { day: 86_400, week: 604_800 };
const element = document.getElementById("acceptance");

const total = (point) => point.approved + point.corrected + point.rejected;

/** The names with the most decisions; what is counted together comes last. */
function chosenNames(points) {
  const numbers = new Map();
  for (const point of points) numbers.set(point.name, (numbers.get(point.name) ?? 0) + total(point));
  return [...numbers.keys()].sort((one, other) => (one === null) - (other === null) || numbers.get(other) - numbers.get(one)).slice(0, MOST_LINES);
}

function shownFigures(found) {
  const bucket = LENGTHS[found.interval];
  const since = seconds(found.since);
  const until = seconds(found.until);
  const times = [];
  for (let time = since; time <= until; time += bucket) times.push(time);
  const series = chosenNames(found.points).map((name) => {
    const own = new Map(found.points.filter((point) => point.name === name).map((point) => [seconds(point.date), point]));
    const points = times.map((time) => own.get(time));
    return {
      label: name ?? OTHERS,
      values: points.map((point) => (point ? point.approved / total(point) : null)),
      note: (place) => `${points[place].approved} of ${total(points[place])}`,
    };
  });
  return { times, since, until: times.at(-1) + bucket, bucket, kind: "share", series, unfinished: true };
}

/** List the decisions of the interval under the pointer; near a line, those of its reviewer or model alone. */
function openDecisions(chart, shown, by) {
  const from = shown.times[chart.cursor.idx];
  if (from === undefined) return;
  const search = new URLSearchParams({ since: isoOf(from), until: isoOf(from + shown.bucket) });
  if (element.dataset.tenant) search.set("tenant", element.dataset.tenant);
  if (element.dataset.model) search.set("model", element.dataset.model);
  const line = nearestLine(chart);
  if (line && line !== OTHERS) search.set(by === "reviewer" ? "person" : "model", line);
  location.assign(`/audit/decisions?${search}`);
}

async function show() {
  const { by, interval, days, tenant, model, audit } = element.dataset;
  const search = new URLSearchParams({ by, interval, days, model, ...(tenant ? { tenant } : {}) });
  const response = await fetch(`/api/reviews/acceptance?${search}`);
  if (!response.ok) {
    element.textContent = `The chart could not be drawn: the console answered ${response.status}.`;
    return;
  }
  const shown = shownFigures(await response.json());
  draw(element, shown, audit ? (chart) => openDecisions(chart, shown, by) : null);
  element.dataset.drawn = "true";
}

if (element) show().catch(() => (element.textContent = "The chart could not be drawn: the console does not answer."));
