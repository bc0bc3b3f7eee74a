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

function draw(element, figures) {
  const series = KINDS[element.dataset.chart];
  const times = figures.series.map((point) => Date.parse(point.at) / 1000);
  const values = series.map(([, , value]) => figures.series.map((point) => value(point, figures.bucket_seconds)));
  charts.get(element)?.destroy();
  charts.set(
    element,
    new uPlot(
      {
        width: element.clientWidth,
        height: 200,
        cursor: { show: true },
        scales: element.dataset.chart === "quality" ? { y: { range: [0, 1] } } : {},
        axes: [
          { stroke: ink, grid: { stroke: "rgba(128,128,128,.2)" } },
          { stroke: ink, grid: { stroke: "rgba(128,128,128,.2)" }, size: 56 },
        ],
        series: [
          {},
          ...series.map(([label, stroke], index) => ({
            label,
            stroke,
            width: 2,
            dash: [[], [6, 4], [2, 3]][index],
            points: { show: times.length < 60, size: 5 },
            spanGaps: true,
            value: (_, value) => (value == null ? "–" : value.toFixed(2)),
          })),
        ],
      },
      [times, ...values],
      element,
    ),
  );
}

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
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => location.reload());
