"""Compare the relations of a claim with those of its evidence: orders, changes, references and exceptions."""

import re
from collections.abc import Callable, Sequence

from schemas.grounding import Mismatch
from workers.evaluation.budget import spend
from workers.evaluation.relations.conditions import is_case_kept
from workers.evaluation.relations.directions import is_direction_kept, is_giver_right
from workers.evaluation.relations.exchanged_members import is_member_right
from workers.evaluation.relations.exclusive_traits import is_trait_right
from workers.evaluation.relations.figures.asked_limits import is_limit_of_answer
from workers.evaluation.relations.figures.bands import is_in_band
from workers.evaluation.relations.figures.bases_of_figures import is_kind_right, is_result_stated
from workers.evaluation.relations.figures.counts_of_one import is_count_right
from workers.evaluation.relations.figures.extremes_and_means import is_extreme_right
from workers.evaluation.relations.figures.free_of_charge import is_free_of_charge_right
from workers.evaluation.relations.figures.reference_units import is_reference_kept
from workers.evaluation.relations.figures.restated_values import is_value_kept
from workers.evaluation.relations.figures.stated_differences import is_order_stated
from workers.evaluation.relations.figures.stated_maxima import is_maximum_kept
from workers.evaluation.relations.figures.stated_shares import is_share_right
from workers.evaluation.relations.figures.values_before import is_value_before_right
from workers.evaluation.relations.figures.wholes import is_of_whole
from workers.evaluation.relations.figures.worded_rows import is_row_figure_right
from workers.evaluation.relations.named_cases import is_named_case_right
from workers.evaluation.relations.named_options import is_option_right
from workers.evaluation.relations.named_persons import is_person_right
from workers.evaluation.relations.named_roles import is_holder_right
from workers.evaluation.relations.no_effects import is_change_stated
from workers.evaluation.relations.other_groups import is_group_right
from workers.evaluation.relations.pairs import is_pair_kept
from workers.evaluation.relations.permissions.duties import is_choice_kept, is_duty_kept
from workers.evaluation.relations.permissions.forbidden_sides import is_side_allowed
from workers.evaluation.relations.permissions.lifted_bans import is_ban_current
from workers.evaluation.relations.permissions.prohibitions import is_act_permitted
from workers.evaluation.relations.permissions.unneeded_things import is_need_stated
from workers.evaluation.relations.permissions.waived_conditions import is_condition_kept
from workers.evaluation.relations.places_beside import is_side_right
from workers.evaluation.relations.ranks import is_rank_kept
from workers.evaluation.relations.shares_of_them import is_share_of_them_kept
from workers.evaluation.relations.times.ages import is_age_right
from workers.evaluation.relations.times.anchored_periods import is_anchor_kept
from workers.evaluation.relations.times.changed_states import is_state_present
from workers.evaluation.relations.times.counted_years import is_counted_year_right
from workers.evaluation.relations.times.date_limits import is_side_kept
from workers.evaluation.relations.times.dated_orders import is_dated_order_right
from workers.evaluation.relations.times.ended_offers import is_offer_current
from workers.evaluation.relations.times.event_orders import is_sequence_kept
from workers.evaluation.relations.times.figures_of_times import is_figure_of_time
from workers.evaluation.relations.times.former_roles import is_role_current
from workers.evaluation.relations.times.next_working_days import is_working_day_right
from workers.evaluation.relations.times.numbered_periods import is_period_right
from workers.evaluation.relations.times.times_of_days import is_time_of_day_right
from workers.evaluation.relations.unproven_statements import is_statement_proven
from workers.evaluation.relations.unrealised_acts import is_act_done
from workers.evaluation.relations.widened_places import is_place_kept
from workers.evaluation.relations.with_and_without import is_case_right

_Rule = Callable[[str, str, Sequence[str]], bool | None]
_RULES: tuple[tuple[_Rule, Mismatch], ...] = (
    (is_order_stated, "comparative"),
    (is_state_present, "negation"),
    (is_reference_kept, "number"),
    (is_value_kept, "number"),
    (is_in_band, "number"),
    (is_side_allowed, "number"),
    (is_side_kept, "date"),
    (is_duty_kept, "negation"),
    (is_act_permitted, "negation"),
    (is_need_stated, "negation"),
    (is_change_stated, "negation"),
    (is_rank_kept, "subject"),
    (is_act_done, "negation"),
    (is_statement_proven, "predicate"),
    (is_ban_current, "negation"),
    (is_role_current, "negation"),
    (lambda claim, _, sentences: is_pair_kept(claim, sentences), "negation"),
    (lambda claim, _, sentences: is_offer_current(claim, sentences), "negation"),
    (is_place_kept, "quantifier"),
    (is_side_right, "role"),
    (lambda claim, _, sentences: is_of_whole(claim, sentences), "number"),
    (lambda claim, _, sentences: is_group_right(claim, sentences), "subject"),
)
"""Rules on a claim, its question and sentences of the evidence, each with its mismatch."""
_RULES_OF_WHOLE: tuple[tuple[_Rule, Mismatch], ...] = (
    (lambda claim, _, sentences: is_maximum_kept(claim, sentences), "number"),
    (is_age_right, "number"),
    (is_limit_of_answer, "subject"),
    (is_counted_year_right, "date"),
    (is_value_before_right, "number"),
    (is_count_right, "number"),
    (is_free_of_charge_right, "number"),
    (is_kind_right, "subject"),
    (is_result_stated, "number"),
    (is_dated_order_right, "role"),
    (is_holder_right, "subject"),
    (lambda claim, _, sentences: is_sequence_kept(claim, sentences), "role"),
    (lambda claim, _, sentences: is_named_case_right(claim, sentences), "subject"),
    (lambda claim, _, sentences: is_extreme_right(claim, sentences), "number"),
    (is_time_of_day_right, "date"),
    (is_trait_right, "antonym"),
    (is_option_right, "subject"),
    (is_member_right, "subject"),
    (lambda claim, _, sentences: is_direction_kept(claim, sentences), "comparative"),
    (lambda claim, _, sentences: is_case_right(claim, sentences), "subject"),
    (lambda claim, _, sentences: is_person_right(claim, sentences), "subject"),
    (lambda claim, _, sentences: is_condition_kept(claim, sentences), "negation"),
    (lambda claim, _, sentences: is_giver_right(claim, sentences), "role"),
    (lambda claim, _, sentences: is_choice_kept(claim, sentences), "quantifier"),
    (lambda claim, _, sentences: is_share_of_them_kept(claim, sentences), "quantifier"),
    (lambda claim, _, sentences: is_period_right(claim, sentences), "number"),
    (lambda claim, _, sentences: is_case_kept(claim, sentences), "negation"),
    (lambda claim, _, sentences: is_anchor_kept(claim, sentences), "predicate"),
)
"""The same for rules whose deciding sentence may share no word with the claim."""
_RULES_OF_OTHER_VALUES: tuple[tuple[_Rule, Mismatch], ...] = (
    (is_share_right, "quantifier"),
    (is_row_figure_right, "number"),
    (lambda claim, _, sentences: is_figure_of_time(claim, sentences), "number"),
    (is_working_day_right, "date"),
)
"""Rules on a claim that says no more than the value, for which the evidence has another one."""
_POLAR = re.compile(
    r"\W*(?P<statement>(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|may|must|should)\s.+?)[\s?]*$",
    re.IGNORECASE | re.DOTALL,
)


def relation_mismatch(
    claim: str, question: str, sentences: Sequence[str], whole: Sequence[str] = ()
) -> tuple[Mismatch | None, bool]:
    """Compare a statement.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the nearest evidence, those of one source in order.
        whole: all sentences of short evidence.

    Returns:
        What the evidence says otherwise, or ``None``, and whether it bears out a relation that the claim states.
    """
    spend(len(claim) + len(sentences) + len(whole))
    found = [(rule(claim, question, sentences), mismatch) for rule, mismatch in _RULES]
    found += [(rule(claim, question, whole or sentences), mismatch) for rule, mismatch in _RULES_OF_WHOLE]
    wrong = next((mismatch for holds, mismatch in found if holds is False), None)
    return wrong, wrong is None and any(holds for holds, _ in found)


def value_mismatch(claim: str, question: str, whole: Sequence[str]) -> tuple[Mismatch | None, bool]:
    """Compare a claim that says no more than one value; the evidence has it or another one.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        whole: all sentences of short evidence, or the nearest ones.

    Returns:
        What the evidence has instead, or ``None``, and whether the evidence has all that the claim says.
    """
    found = [(rule(claim, question, whole), mismatch) for rule, mismatch in _RULES_OF_OTHER_VALUES]
    wrong = next((mismatch for holds, mismatch in found if holds is False), None)
    return wrong, wrong is None and any(holds for holds, _ in found)


def is_end_kept(claim: str, question: str, sentences: Sequence[str]) -> bool:
    """Return true if a claim says of an act, a ban or a role no more than that it did not come about or has ended."""
    return any(rule(claim, question, sentences) for rule in (is_act_done, is_ban_current, is_role_current))


def keeps_maximum(claim: str, whole: Sequence[str]) -> bool:
    """Return true if a claim has the limit that the evidence states in other words."""
    return is_maximum_kept(claim, whole) is True


def answer_by_relation(question: str, sentences: Sequence[str]) -> bool | None:
    """Return the answer that a relation gives to a question for yes or no; ``None`` if it gives none."""
    if not (asked := _POLAR.match(question)):
        return None
    found = {rule(asked["statement"], "", sentences) for rule, _ in (*_RULES, *_RULES_OF_OTHER_VALUES)} - {None}
    return found.pop() if len(found) == 1 else None
