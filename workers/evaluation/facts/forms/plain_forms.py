"""Write a text in the forms that numbers, dates and periods are read in."""

from workers.evaluation.facts.forms.clock_words import plain_clock
from workers.evaluation.facts.forms.counted_words import plain_counts
from workers.evaluation.facts.forms.period_words import plain_periods
from workers.evaluation.facts.forms.phone_numbers import plain_phones
from workers.evaluation.facts.forms.powers import plain_powers
from workers.evaluation.facts.numbers.numerals import plain_numerals
from workers.evaluation.text.words import kept_for_sentences


@kept_for_sentences
def plain_forms(text: str) -> str:
    """Return a text with numerals, powers of ten, phone numbers, times of day, periods and small counts in their usual form.

    Each step has a quick check, since most sentences have none of these. The steps change the length of the text.
    """
    return plain_counts(plain_periods(plain_clock(plain_phones(plain_numerals(plain_powers(text))))))
