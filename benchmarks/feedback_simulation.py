"""Simulate learning from rewards: three models of known quality, 10,000 answers, four variants.

    python -m benchmarks.feedback_simulation --plot docs/reference/feedback.png

Every answer's signals go through the steps that the agents use (fold, weights, posteriors,
``choose_model``); only the people and the stores are made up. Seeded: the same call gives the
same figures.

The people: an answer is good with the chance of its model's quality. A good one is asked
again with a chance of 3 %, a bad one with 45 %; calls fail now and then whoever answers. Of
one answer in three behaviour is seen, noisily; one in twenty is rated, half a day later, a
good one with 4 or 5 and a bad one with 1 to 3 stars, and one rating in ten is a slip.
"""

import argparse
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from schemas.feedback import FeedbackEvent, ModelPosterior
from workers.evaluation.thresholds import FeedbackRules
from workers.feedback.beta_posterior import WeightedRewards, model_posterior
from workers.feedback.model_choice import RoutingContext, choose_model
from workers.feedback.rewards import combine, reward_of

QUALITY = {"small": 0.50, "medium": 0.70, "large": 0.90}
"""Share of good answers of each model; latencies differ little, so that speed does not decide."""

LATENCY = {"small": 6.0, "medium": 7.0, "large": 8.0}
VARIANTS: dict[str, FeedbackRules | None] = {
    "70/30": FeedbackRules(),
    "explicit only": FeedbackRules(explicit_weight=1.0, implicit_weight=0.0),
    "implicit only": FeedbackRules(explicit_weight=0.0, implicit_weight=1.0),
    "at random": None,
}
START = datetime(2026, 11, 2, tzinfo=UTC)
BETWEEN = timedelta(seconds=60)
RATING_DELAY = 720
"""Answers given before a rating comes."""

PUBLISH_EVERY = 20
"""Answers between two publications of the posteriors."""

HALF_LIFE_DAYS = 14.0


@dataclass(slots=True)
class Run:
    """Hold one run of one variant."""

    regret: list[float] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    means: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Answer:
    """Hold one answer, its current feedback and its future rating."""

    model: str
    at: datetime
    events: list[FeedbackEvent]
    rating: FeedbackEvent | None
    reward: float | None = None


def simulate(variant: str, answers: int, seed: int) -> Run:
    """Simulate answers one after the other with the router's knowledge at each time."""
    rules = VARIANTS[variant]
    people, router = random.Random(seed), random.Random(seed + 1)
    context = RoutingContext(models=list(QUALITY))
    posteriors: list[ModelPosterior] = []
    given: list[Answer] = []
    run = Run()
    regret = 0.0
    for number in range(answers):
        model = router.choice(context.models) if rules is None else choose_model(posteriors, context, router)
        answer = given_answer(number, model, QUALITY[model], people)
        given.append(answer)
        judge(answer, variant)
        if number >= RATING_DELAY and (late := given[number - RATING_DELAY]).rating is not None:
            late.events.append(late.rating)
            judge(late, variant)
        regret += max(QUALITY.values()) - QUALITY[model]
        run.regret.append(regret)
        run.chosen.append(model)
        if number % PUBLISH_EVERY == 0:
            posteriors = _posteriors(given, answer.at)
    run.means = {posterior.model_id: posterior.mean for posterior in _posteriors(given, given[-1].at)}
    return run


def given_answer(
    number: int, model: str, quality: float, rng: random.Random, features: Sequence[float] | None = None
) -> Answer:
    """Generate an answer and the reactions of people.

    Args:
        number: of the answer, which is its time as well.
        model: who wrote it.
        quality: chance of a good answer.
        rng: people's chance.
        features: of the query.
    """
    at = START + number * BETWEEN
    good = rng.random() < quality
    failed = rng.random() < 0.02
    events = [
        _event(number, model, at, "execution", status="error" if failed else "success",
               latency_seconds=rng.lognormvariate(0, 0.5) * LATENCY[model], query_features=features),
    ]  # fmt: skip
    if rng.random() < (0.03 if good else 0.45):
        pair = {"original_answer_id": str(number), "retry_answer_id": f"{number}'", "delay_seconds": 60.0}
        events.append(_event(number, model, at, "retry", **pair, similarity_score=0.9))
    if rng.random() < 0.33:
        spent = rng.lognormvariate(3.2 if good else 2.4, 0.9)
        copied = rng.random() < (0.3 if good else 0.1)
        events.append(_event(number, model, at, "behaviour", time_spent_seconds=spent, response_copied=copied))
    rating = None
    if rng.random() < 0.05:
        meant_well = good if rng.random() < 0.9 else not good
        stars = rng.choice([4, 5] if meant_well else [1, 2, 3])
        rating = _event(number, model, at + RATING_DELAY * BETWEEN, "explicit", rating=stars)
    return Answer(model, at, events, rating)


def _event(number: int, model: str, at: datetime, kind: str, **part: Any) -> FeedbackEvent:
    content = {"feedback_id": f"{number}-{kind}", "answer_id": str(number), "model_id": model, "occurred_at": at}
    return FeedbackEvent.model_validate(content | {"kind": kind, kind: part})


def judge(answer: Answer, variant: str) -> None:
    """Compute the reward of an answer from its current feedback."""
    rules = VARIANTS[variant] or FeedbackRules()
    found = reward_of(combine(answer.events), rules, answer.at)
    # One side alone counts whole, so a variant that looks at one side must leave out the other.
    one_sided = {"explicit only": "explicit_reward", "implicit only": "implicit_reward"}
    answer.reward = None if found is None else getattr(found, one_sided.get(variant, "reward"))


def _posteriors(given: Sequence[Answer], now: datetime) -> list[ModelPosterior]:
    """Compute posteriors as ClickHouse does, with weights by age."""
    sums = {model: [0.0, 0.0] for model in QUALITY}
    for answer in given:
        if answer.reward is not None:
            weight = 0.5 ** ((now - answer.at).total_seconds() / 86_400 / HALF_LIFE_DAYS)
            sums[answer.model][0] += weight * answer.reward
            sums[answer.model][1] += weight * (1 - answer.reward)
    return [model_posterior(WeightedRewards("default", model, "", *pair), now) for model, pair in sums.items()]


def main() -> None:
    """Run the simulation, print a table and draw the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=5, help="runs of each way (default 5)")
    parser.add_argument("--plot", type=Path, help="draw the regret into a file")
    options = parser.parse_args()
    runs = {
        variant: [simulate(variant, options.answers, 100 * seed) for seed in range(options.seeds)]
        for variant in VARIANTS
    }
    print("| rewards | regret after 1,000 | after all | in the last tenth, per 1,000 | best model chosen in the last tenth "
          "| ranked right | posterior means |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for variant, repeated in runs.items():
        print(_row(variant, repeated))
    if options.plot:
        plot_regret({name: [run.regret for run in repeated] for name, repeated in runs.items()}, options.plot)


def _row(variant: str, runs: Sequence[Run]) -> str:
    last = len(runs[0].regret) // 10
    early = fmean(run.regret[min(999, len(run.regret) - 1)] for run in runs)
    whole = fmean(run.regret[-1] for run in runs)
    late = fmean(1000 * (run.regret[-1] - run.regret[-last - 1]) / last for run in runs)
    best = max(QUALITY, key=lambda model: QUALITY[model])
    share = fmean(run.chosen[-last:].count(best) / last for run in runs)
    right = sum(sorted(run.means, key=lambda model: run.means[model]) == list(QUALITY) for run in runs)
    means = ", ".join(f"{model} {fmean(run.means[model] for run in runs):.3f}" for model in QUALITY)
    return f"| {variant} | {early:.0f} | {whole:.0f} | {late:.1f} | {share:.0%} | {right} of {len(runs)} | {means} |"


def plot_regret(runs: Mapping[str, Sequence[Sequence[float]]], path: Path) -> None:
    """Draw the mean regret of repeated runs by variant."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), dpi=110)
    for variant, repeated in runs.items():
        axes.plot([fmean(values) for values in zip(*repeated, strict=True)], label=variant)
    axes.set_xlabel("answers")
    axes.set_ylabel("regret: good answers missed, mean of the runs")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    main()
