"""A claim is compared with what the evidence excludes or lays down for others, in whole answers and in each rule."""

from collections.abc import Callable, Sequence

import pytest

from tests.harness.whole_answers import is_warned_of
from workers.evaluation.relations.alternatives import is_addition_kept, is_alternative_kept
from workers.evaluation.relations.equated import is_treatment_kept
from workers.evaluation.relations.figures.named_amounts import is_noun_kept
from workers.evaluation.relations.figures.parties import is_party_right
from workers.evaluation.relations.permissions.duties import is_duty_kept
from workers.evaluation.relations.times.calendar_parts import is_month_right
from workers.evaluation.relations.times.date_limits import is_side_kept
from workers.evaluation.text.languages.local_forms import local_forms
from workers.evaluation.text.structure.segmentation import segment


def _cases(rows: str) -> list[list[str]]:
    return [row.split(" | ") for row in rows.strip().splitlines()]


Rule = Callable[[str, Sequence[str], str], bool | None]
RIGHT: list[tuple[Rule, str, str, str]] = []
"""Right claims with the rule that must leave them alone, the language and the evidence."""


def _right(rule: Rule, rows: str) -> None:
    RIGHT.extend((rule, language, context, claim) for language, context, claim in _cases(rows))


ALTERNATIVES = _cases("""
Is the deductible waived if the windscreen is replaced? | Glass damage: the deductible is waived if the windscreen is repaired rather than replaced. | If the windscreen is repaired, you pay no deductible at all. | If the windscreen is replaced, you pay no deductible at all.
Who signed the lease? | Ann Keller, not Bob Frey, signed the lease of the workshop. | Ann Keller signed the lease of the workshop. | Bob Frey signed the lease of the workshop.
What should I use to clean the lens? | Instead of alcohol, use a dry cloth to clean the lens. | Use a dry cloth to clean the lens. | Use alcohol to clean the lens.
Should I clean the lens with alcohol? | Clean the lens with a dry cloth instead of alcohol. | No. | Yes.
Where is the spring concert held? | The spring concert takes place in the town hall rather than in the church. | The spring concert takes place in the town hall. | The spring concert takes place in the church.
Womit wird die Fassade gestrichen? | Die Fassade wird mit Kalkfarbe statt mit Dispersionsfarbe gestrichen. | Die Fassade wird mit Kalkfarbe gestrichen. | Die Fassade wird mit Dispersionsfarbe gestrichen.
Où se tient la réunion ? | La réunion se tient à la mairie et non à l'école. | La réunion se tient à la mairie. | La réunion se tient à l'école.
Is the chili vegan? | Bean chili with rice. Vegan if served without the sour cream. | The chili is vegan without the sour cream. | The chili is vegan, including the sour cream.
""")  # fmt: skip
_right(
    is_alternative_kept,
    """
en | The deductible is waived if the windscreen is repaired rather than replaced. | If the windscreen is replaced, you have to pay the deductible.
en | The deductible is waived if the windscreen is repaired rather than replaced. | The deductible is not waived if the windscreen is replaced.
en | Ann Keller, not Bob Frey, signed the lease of the workshop. | Bob Frey did not sign the lease of the workshop.
en | Ann Keller, not Bob Frey, signed the lease of the workshop. | The lease was signed by Ann Keller instead of Bob Frey.
en | Clean the lens with a dry cloth instead of alcohol. | Do not clean the lens with alcohol.
en | Clean the lens with a dry cloth instead of alcohol. | Never use alcohol, but a dry cloth, to clean the lens.
en | The spring concert takes place in the town hall rather than in the church. The winter concert takes place in the church. | The winter concert takes place in the church.
en | The bus, not the tram, stops at the zoo. | The tram does not stop at the zoo.
en | The plan covers the walls, not only the roof. | The plan covers the roof.
en | Members may borrow books, and not just magazines. | Members may borrow magazines.
en | Overtime is compensated with time off instead of pay. | Overtime is not paid out.
en | The fee is 20 euros, not more than last year. | The fee is 20 euros, as last year.
de | Die Fassade wird mit Kalkfarbe statt mit Dispersionsfarbe gestrichen. | Die Fassade wird nicht mit Dispersionsfarbe gestrichen.
fr | La réunion se tient à la mairie et non à l'école. | La réunion n'a pas lieu à l'école.
es | Las llaves se entregan en la recepción en lugar de en el garaje. | Las llaves no se entregan en el garaje.
""",
)
_right(
    is_addition_kept,
    """
en | The tour costs 90 euros without lunch; with lunch it costs 110 euros. | The tour with lunch costs 110 euros.
en | The chili is vegan without the sour cream. | With the sour cream, the chili is not vegan.
en | Entry without a ticket is not possible. | Entry with a ticket is possible.
en | Visitors without a badge must report at the gate. | Visitors with a badge need not report at the gate.
en | The course can be taken without prior knowledge. | The course can be taken with prior knowledge.
en | The flat is let without furniture. | The flat is let without any furniture and with a parking space.
en | The price is 640 euros excluding heating. | The price of 640 euros does not include heating.
en | Cars without a permit are towed. | Cars with a permit are not towed.
en | The hotel serves breakfast without meat. The lunch menu is served with meat. | The lunch menu is served with meat.
de | Das Zimmer kostet 95 Euro ohne Frühstück und 110 Euro mit Frühstück. | Das Zimmer mit Frühstück kostet 110 Euro.
de | Der Eintritt ist ohne Ausweis nicht möglich. | Der Eintritt ist mit Ausweis möglich.
fr | La chambre coûte 80 euros sans petit-déjeuner. | La chambre coûte 80 euros, le petit-déjeuner n'est pas compris.
""",
)


DUTIES = _cases("""
Do teachers have to announce tests? | Class tests: each must be announced at least one week in advance. | Teachers have to announce class tests at least a week in advance. | Teachers do not have to announce class tests.
Do I need any documents to register? | To register, proof of residence is required. | You need proof of residence to register. | No documents are needed to register.
Do I need any documents to register? | To register, proof of residence is required. | You need proof of residence to register. | No documents are needed.
Must invoices be kept? | Invoices must be kept for ten years. | Invoices have to be kept for ten years. | There is no need to keep invoices.
Is the newsletter compulsory? | Subscribing to the newsletter is optional. | You do not have to subscribe to the newsletter. | You must subscribe to the newsletter.
""")  # fmt: skip
_right(
    lambda claim, sentences, _: is_duty_kept(claim, "", sentences),
    """
en | If you park overnight, you must pay the fee. | You do not have to pay the fee to park for an hour.
en | All cyclists must wear a helmet on the track. | Visitors need not wear a helmet on the track.
en | All members must register online. Members over 60 are exempt. | Members over 60 do not have to register online.
en | Guests need not book the sauna. | Booking the sauna is not necessary.
en | Proof of residence is required to register. | You do not need an appointment to register.
en | Luggage over 20 kg must be declared. | Luggage of 10 kg need not be declared.
en | Invoices must be kept for ten years. | Invoices do not have to be kept on paper.
en | Children must be accompanied by an adult. | Adults do not need to be accompanied.
en | A deposit is required for tents. A deposit is not required for chairs. | No deposit is required for chairs.
en | The form must be signed. A copy is optional. | You do not have to send a copy.
""",
)
TREATMENTS = _cases("""
Does Switzerland count as an EEA country for the fee waiver? | For the fee waiver, Switzerland is treated like an EEA country. | Yes, for the fee waiver Switzerland is treated like an EEA country. | No, Switzerland does not count, because it is not in the EEA.
Do part-time staff get the discount? | Part-time staff are treated as full employees for the discount. | Part-time staff count as full employees for the discount. | Part-time staff do not count as full employees for the discount.
Is a trainee covered? | Trainees are regarded as employees under the policy. | Under the policy, trainees are considered employees. | Under the policy, trainees are not considered employees.
Gilt der Samstag als Werktag? | Der Samstag gilt als Werktag. | Ja, der Samstag zählt als Werktag. | Nein, der Samstag ist kein Werktag.
""")  # fmt: skip
_right(
    is_treatment_kept,
    """
en | Switzerland is treated like an EEA country. | Switzerland is not in the EEA.
en | Switzerland is treated like an EEA country. | Although Switzerland is not in the EEA, it is treated like an EEA country.
en | Switzerland is treated like an EEA country. | Switzerland is not an EEA country, but it counts as one.
en | Travel time does not count as working time. | Travel time is not working time.
en | Puppies under six months are not treated as dogs for the tax. | Puppies under six months do not count as dogs for the tax.
en | An e-bike is considered a bicycle. A moped is not considered a bicycle. | A moped is not considered a bicycle.
en | Saturday counts as a working day. | Sunday does not count as a working day.
en | Trainees are regarded as employees under the policy. | Trainees are not paid as employees.
de | Der Samstag gilt als Werktag. | Der Sonntag gilt nicht als Werktag.
fr | La Suisse est assimilée à un pays de l'EEE. | La Suisse ne fait pas partie de l'EEE.
""",
)
CALENDAR = _cases("""
When is the bonus paid? | The annual bonus is paid with the April salary. | The annual bonus comes with the April salary. | The annual bonus is paid with the June salary.
When does the season start? | The sailing season starts in May. | The sailing season begins in May. | The sailing season starts in March.
When are the hedges cut? | The hedges are cut in autumn. | The hedges are cut in the autumn. | The hedges are cut in spring.
Wann wird das Weihnachtsgeld gezahlt? | Das Weihnachtsgeld wird mit dem Novembergehalt gezahlt. | Das Weihnachtsgeld wird mit dem Gehalt für November gezahlt. | Das Weihnachtsgeld wird mit dem Dezembergehalt gezahlt.
Quand la prime est-elle versée ? | La prime est versée avec le salaire d'avril. | La prime est payée avec le salaire d'avril. | La prime est versée avec le salaire de juin.
¿Cuándo se paga la prima? | La prima se paga con el sueldo de abril. | La prima se abona con el sueldo de abril. | La prima se paga con el sueldo de junio.
""")  # fmt: skip
_right(
    is_month_right,
    """
en | The annual bonus is paid with the April salary. | The annual bonus is not paid with the June salary.
en | The pool is open in summer. | The pool is closed in winter.
en | The sailing season runs from May to September. | The sailing season includes July.
en | The sailing season runs from May to September. | The sailing season runs on in July.
en | The sailing season starts in May. The skiing season starts in December. | The skiing season starts in December.
en | The hedges are cut in October. | The hedges are cut in autumn.
en | The fee is due on 15 March 2024. | The fee is due in March.
en | The payment is due one month after the April invoice. | The payment is due in May.
en | The report appears in March and September. | The report appears in September.
en | The courses start before June. | The courses start in May.
en | Applications are accepted in June. | Applications may be sent in June.
en | The spring concert takes place in May. | The concert takes place in May.
en | The fair is held every June. The book fair is held in October. | The book fair is held in October.
de | Das Weihnachtsgeld wird mit dem Novembergehalt gezahlt. | Das Weihnachtsgeld wird im November gezahlt.
de | Die Prüfung ist im Mai. | Die Prüfung ist am 12. Mai.
fr | La piscine est ouverte en été. | La piscine est fermée en hiver.
fr | La prime a été versée en avril. | La prime a été versée en avril.
""",
)


REFUSALS = _cases("""
Can I bring my dog on the tour? | Dogs are welcome on the tour. | Yes, that is possible. | I'm sorry, that is not possible.
Can I pay by invoice? | Payment by invoice is possible for companies and private customers. | Yes, you can pay by invoice. | Unfortunately, that is not possible.
Can I park at the hotel? | Guests can park at the hotel free of charge. | Yes, guests can park at the hotel. | I'm sorry, but that's not possible.
Can I smoke in the room? | Smoking is not allowed in the rooms. | Sorry, that is not allowed. | Yes, that is allowed.
Kann ich mit Karte zahlen? | Sie können mit Karte zahlen. | Ja, das ist möglich. | Das ist leider nicht möglich.
""")  # fmt: skip


DIRECTIONS = _cases("""
When was the bridge finished? | The bridge was finished before 2010. | The bridge was completed before 2010. | The bridge was finished in 2010.
When does the ferry run? | The ferry does not run before April. | The ferry runs from April. | The ferry runs from March.
Until when is the offer valid? | The offer is not valid after 30 June. | The offer is valid until 30 June. | The offer is valid from 30 June.
When is the lift available? | The lift is available from 7 a.m. | The lift is not available before 7 a.m. | The lift is not available after 7 a.m.
When was the mill shut? | The mill was shut after 1985. | The mill was shut after 1985. | The mill was shut before 1985.
""")  # fmt: skip
_right(
    lambda claim, sentences, _: is_side_kept(claim, "", sentences),
    """
en | The bridge was finished before 2010. | The bridge was not finished in 2010.
en | The bridge was not finished before 2010. | The bridge was finished in 2010.
en | The bridge was finished by 2010. | The bridge was finished in 2010.
en | Until 2010 the bridge was closed. It was opened in 2010. | The bridge was opened in 2010.
en | The firm moved two years after 2010. | The firm moved in 2012.
en | Quiet hours begin at 22:00. Noise is prohibited after 22:00. | Noise is allowed until 22:00.
en | The pool is open from May to September. | The pool is not open before May.
en | The road is closed after 18:00. | The road is open until 18:00.
en | The office does not accept applications before March. | The office accepts applications from March.
en | The office does not accept applications after March. | The office accepts applications until March.
en | The ferry runs from April. | The ferry does not run until April.
en | Deliveries are possible until noon. The office is staffed from 8:00. | The office is not staffed before 8:00.
""",
)


PARTIES = _cases("""
What is my notice period as a tenant? | The tenant may give notice of three months, regardless of how long the tenancy has lasted. For the landlord the notice period is three months, rising to six months after five years. | As a tenant your notice period is three months. | As a tenant your notice period is six months after five years.
How long can members borrow books? | Guests may borrow books for two weeks. For members the loan period is four weeks. | Members may borrow books for four weeks. | Members may borrow books for two weeks.
When must the buyer pay? | The buyer has to pay within 14 days. The seller has to deliver within 30 days. | The buyer must pay within 14 days. | The buyer must pay within 30 days.
How much may children take? | Adults may take two tablets every six hours. For children the dose is one tablet, rising to two after the age of ten. | Adults may take two tablets every six hours. | Adults may take one tablet, rising to two after the age of ten.
Wie lang ist die Kündigungsfrist für Mieter? | Mieter können mit einer Frist von drei Monaten kündigen. Für Vermieter verlängert sich die Frist nach fünf Jahren auf sechs Monate. | Für Mieter beträgt die Frist drei Monate. | Für Mieter verlängert sich die Frist nach fünf Jahren auf sechs Monate.
How much is the deposit? | A registration fee of 80 euros is due at booking. The deposit is 120 euros. | The deposit is 120 euros. | The deposit is 80 euros.
Wie hoch ist die Kaution? | Es fällt eine Gebühr von 80 Euro an. Die Kaution beträgt 120 Euro. | Die Kaution beträgt 120 Euro. | Die Kaution beträgt 80 Euro.
""")  # fmt: skip
_right(
    lambda claim, sentences, language: is_party_right(claim, "", sentences, language),
    """
en | The landlord must return the deposit to the tenant within 30 days. The tenant must report damage within 8 days. | The tenant gets the deposit back within 30 days.
en | The landlord returns the deposit within 30 days. The tenant must report damage within 8 days. | As a tenant you get the deposit back within 30 days.
en | Guests may borrow books for two weeks. For members the loan period is four weeks. | Members may borrow books for two weeks longer than guests.
en | Adults pay 12 euros. Children pay 6 euros. | Children pay half of the 12 euros that adults pay.
en | Tenants must give one month's notice. | The tenant's notice period is one month.
en | On weekdays the bus runs every 10 minutes. On Sundays it runs every 30 minutes. | On Sundays the bus runs every 30 minutes.
en | The fee is 20 euros. Members pay 15 euros. Guests pay in cash. | Guests pay 20 euros.
en | Employees have 28 days of leave. Both employees and trainees may carry over 5 days. Trainees have 25 days. | Trainees may carry over 5 days.
en | The seller answers within five days. The buyer must report defects within eight days. | The buyer gets an answer within five days.
fr | Le locataire doit donner un préavis d'un mois. Pour le propriétaire, le préavis est de six mois. | Le préavis du propriétaire est de six mois.
""",
)
_right(
    is_noun_kept,
    """
en | The deposit is 120 euros. For flats the deposit is 80 euros. | The deposit is 80 euros for flats.
en | A fee of 80 euros is due. The deposit is 120 euros. | The fee is 80 euros.
en | A fee of 80 euros is due. The deposit is 120 euros. | The price is 80 euros.
en | The rent is 600 euros and the rent of the garage is 80 euros. A fee of 80 euros is due. | The rent is 80 euros for the garage.
en | The fee is 80 euros. The deposit is 120 euros. | The total is 200 euros.
en | The hall is 40 m long; the height is 12 m. | The hall is 12 m high.
en | A fee of 80 euros is due. The deposit is 120 euros. | The deposit is 40 euros higher than the fee of 80 euros.
de | Es fällt eine Gebühr von 80 Euro an. Die Kaution beträgt 120 Euro. | Die Gebühr beträgt 80 Euro.
fr | Les frais s'élèvent à 80 euros. La caution est de 120 euros. | La caution est de 120 euros.
""",
)


@pytest.mark.parametrize(
    ("query", "context", "right", "wrong"),
    [*ALTERNATIVES, *DUTIES, *TREATMENTS, *CALENDAR, *REFUSALS, *DIRECTIONS, *PARTIES],
)
def test_what_the_evidence_excludes_is_noticed(query: str, context: str, right: str, wrong: str) -> None:
    assert not is_warned_of(right, query, context)
    assert is_warned_of(wrong, query, context)


@pytest.mark.parametrize(("rule", "language", "context", "claim"), RIGHT)
def test_right_claims_in_other_words_are_left_alone(rule: Rule, language: str, context: str, claim: str) -> None:
    sentences = [local_forms(each.text, language) for each in segment(context)]
    assert rule(local_forms(claim, language), sentences, language) is not False
