"""Search in the texts that reviewers wrote in place of answers, and read their beginnings."""

from workers.stores.queries.reviews.blind_reviews import HIDDEN_OF_CHOSEN, not_hidden
from workers.stores.queries.searched_texts import holds_words

_CORRECTED = """FROM {database}.review_decisions
    WHERE ruling = 'final' AND action = 'correct'"""

CORRECTIONS = f"""
SELECT tenant, answer_id, leftUTF8(JSONExtractString(decision, 'corrected_answer'), {{{{shown:UInt32}}}}) AS correction
{_CORRECTED}{not_hidden(HIDDEN_OF_CHOSEN)} AND review_id IN {{{{review_ids:Array(String)}}}}
"""
"""Statement for the beginnings of the corrections of some reviews, without those that are hidden from a reviewer."""


def corrected_answers(text: str) -> str:
    """Return a subquery for the answers in whose question, text and correction all words of a search occur.

    It reads corrected answers alone: those of people are few. Its parameters are ``words``, ``tenants`` and those of
    ``due_values``.

    Args:
        text: name of the parameter with the text of the search; an empty text reads nothing.
    """
    corrected = f"{_CORRECTED} AND {{{{{text}:String}}}} != '' AND (empty({{{{tenants:Array(String)}}}}) OR tenant IN {{{{tenants:Array(String)}}}})"
    return f"""(
    SELECT tenant, answer_id FROM {{database}}.answers ANY INNER JOIN (
        SELECT tenant, answer_id, JSONExtractString(decision, 'corrected_answer') AS correction {corrected}{not_hidden()}
    ) AS corrected USING (tenant, answer_id)
    WHERE run = 'live' AND (tenant, answer_id) IN (SELECT tenant, answer_id {corrected})
      AND {holds_words("query", "answer", "correction")})"""
