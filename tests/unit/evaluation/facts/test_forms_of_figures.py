"""A right figure in another form is not contradicted, and a wrong one is noticed in any form."""

from datetime import UTC, datetime
from functools import partial

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from tests.harness.linear_time import check_linear, repeated
from workers.evaluation.facts.dates import DatePool
from workers.evaluation.facts.forms.plain_forms import plain_forms
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

DONE = datetime(2026, 11, 2, tzinfo=UTC)
CASES: dict[str, list[tuple[str, str, str]]] = {
    "amount": [
        ("The plant has 1,950 employees.", "The plant has 1950 employees.", "The plant has 1980 employees."),
        ("The plant has 1950 employees.", "The plant has 1,950 employees.", "The plant has 1,980 employees."),
        ("The museum owns 2,015 paintings.", "The museum owns 2015 paintings.", "The museum owns 2051 paintings."),
        ("The course was taken by 2,040 students.", "The course was taken by 2040 students.", "The course was taken by 2004 students."),
        ("The house was built in 1950.", "The house dates from 1950.", "The house dates from 1960."),
        ("The 2024 report names three risks.", "In the 2024 report there are three risks.", "In the 2023 report there are three risks."),
        ("The hall seats 2,000 visitors.", "The hall seats 2000 visitors.", "The hall seats 2050 visitors."),
        ("Sales were 1,999 units.", "Sales were 1999 units.", "Sales were 1998 units."),
    ],
    "fraction": [
        ("The recipe needs 2.5 cups of flour.", "The recipe needs 2½ cups of flour.", "The recipe needs 3½ cups of flour."),
        ("Add 1/2 cup of milk.", "Add ½ cup of milk.", "Add ¼ cup of milk."),
        ("Add 0.5 cup of milk.", "Add 1/2 cup of milk.", "Add 1/4 cup of milk."),
        ("Add 1.5 cups of milk.", "Add 1 1/2 cups of milk.", "Add 2 1/2 cups of milk."),
        ("The recipe needs 3.5 cups of rice.", "The recipe needs 3½ cups of rice.", "The recipe needs 4½ cups of rice."),
        ("The walk takes 1.5 hours.", "The walk takes 1½ hours.", "The walk takes 2½ hours."),
        ("Add 0.75 teaspoons of salt.", "Add ¾ teaspoon of salt.", "Add ¼ teaspoon of salt."),
        ("The screw is 1/4 inch thick.", "The screw is 0.25 inches thick.", "The screw is 0.75 inches thick."),
        ("The pipe is 2 1/2 inches wide.", "The pipe is 2.5 inches wide.", "The pipe is 3.5 inches wide."),
        ("Add 2 tablespoons of oil.", "Add 2 tbsp of oil.", "Add 3 tbsp of oil."),
    ],
    "clock": [
        ("The office closes at 17:30.", "The office closes at 5.30 pm.", "The office closes at 5.45 pm."),
        ("The office closes at 17:30.", "The office closes at 5.30pm.", "The office closes at 6.30pm."),
        ("Der Laden schließt um 17:30 Uhr.", "Der Laden schließt um 17.30 Uhr.", "Der Laden schließt um 18.30 Uhr."),
        ("Der Laden schließt um 17:00 Uhr.", "Der Laden schließt um 17 Uhr.", "Der Laden schließt um 18 Uhr."),
        ("Der Kurs beginnt um 17:30 Uhr.", "Der Kurs beginnt um halb sechs.", "Der Kurs beginnt um halb sieben."),
        ("Der Kurs beginnt um 15:15 Uhr.", "Der Kurs beginnt um Viertel nach drei.", "Der Kurs beginnt um Viertel nach vier."),
        ("The course begins at 5:45 pm.", "The course begins at quarter to six.", "The course begins at quarter to seven."),
        ("The course begins at 17:45.", "The course begins at a quarter to six in the evening.", "The course begins at a quarter past six in the evening."),
        ("The shop opens at 9:30.", "The shop opens at half past nine.", "The shop opens at half past ten."),
        ("The shop opens at 12:00.", "The shop opens at noon.", "The shop opens at midnight."),
        ("The train leaves at 14:05.", "The train leaves at five past two.", "The train leaves at five to two."),
        ("Le train part à 17h30.", "Le train part à 17:30.", "Le train part à 18:30."),
        ("The store closes at 9 pm.", "The store closes at nine in the evening.", "The store closes at ten in the evening."),
        ("The museum opens at 10:30.", "The museum opens at half past ten.", "The museum opens at half past eleven."),
        ("The bus leaves at 7:45 am.", "The bus leaves at quarter to eight.", "The bus leaves at quarter to nine."),
        ("The film starts at 20:15.", "The film starts at a quarter past eight in the evening.", "The film starts at a quarter past nine in the evening."),
        ("Das Konzert beginnt um 19:30 Uhr.", "Das Konzert beginnt um halb acht.", "Das Konzert beginnt um halb neun."),
        ("Die Apotheke schließt um 18 Uhr.", "Die Apotheke schließt um 18:00 Uhr.", "Die Apotheke schließt um 19:00 Uhr."),
        ("The bar closes at 24:00.", "The bar closes at midnight.", "The bar closes at noon."),
        ("The meeting starts at 3 pm.", "The meeting starts at 3 o'clock.", "The meeting starts at 4 o'clock."),
        ("The shop closes at 18:45.", "The shop closes at 6.45 pm.", "The shop closes at 7.45 pm."),
        ("Le magasin ferme à 19h.", "Le magasin ferme à 19:00.", "Le magasin ferme à 20:00."),
    ],
    "count": [
        ("The box holds 12 eggs.", "The box holds a dozen eggs.", "The box holds two dozen eggs."),
        ("The box holds 24 eggs.", "The box holds two dozen eggs.", "The box holds a dozen eggs."),
        ("It takes two days.", "It takes a couple of days.", "It takes a dozen days."),
        ("Delivery takes 2 weeks.", "Delivery takes a couple of weeks.", "Delivery takes a couple of months."),
        ("The list has 6 names.", "The list has half a dozen names.", "The list has a dozen names."),
        ("The crate holds 36 bottles.", "The crate holds three dozen bottles.", "The crate holds four dozen bottles."),
        ("The repair takes two hours.", "The repair takes a couple of hours.", "The repair takes a couple of days."),
        ("The jury has 12 members.", "The jury has a dozen members.", "The jury has half a dozen members."),
        ("The offer holds for 14 days.", "The offer holds for two weeks.", "The offer holds for a couple of months."),
    ],
    "scale": [
        ("The rent is 1,500 euros.", "The rent is €1.5k.", "The rent is €2.5k."),
        ("The budget is 1.5 million euros.", "The budget is 1,5 Mio. Euro.", "The budget is 2,5 Mio. Euro."),
        ("Das Budget beträgt 1.500.000 Euro.", "Das Budget beträgt 1,5 Mio. €.", "Das Budget beträgt 1,8 Mio. €."),
        ("Revenue was 2,000,000,000 dollars.", "Revenue was $2 bn.", "Revenue was $3 bn."),
        ("Revenue was 2 billion dollars.", "Revenue was $2,000m.", "Revenue was $3,000m."),
        ("Revenue was 2 billion dollars.", "Revenue was $2bn.", "Revenue was $2m."),
        ("The set has 1,000,000 rows.", "The set has 1e6 rows.", "The set has 1e7 rows."),
        ("The set has 1,000,000 rows.", "The set has 10⁶ rows.", "The set has 10⁷ rows."),
        ("The set has 300,000 rows.", "The set has 3×10^5 rows.", "The set has 3×10^6 rows."),
        ("The set has 300,000 rows.", "The set has 3 × 10⁵ rows.", "The set has 4 × 10⁵ rows."),
        ("The tolerance is 0.0005 mm.", "The tolerance is 5e-4 mm.", "The tolerance is 5e-3 mm."),
        ("The price is 5,000 francs.", "The price is 5'000 CHF.", "The price is 6'000 CHF."),
        ("価格は12000円です。", "価格は１２，０００円です。", "価格は１３，０００円です。"),
        ("人口は120000人です。", "人口は12万人です。", "人口は13万人です。"),
        ("人口は120,000,000人です。", "人口は1億2千万人です。", "人口は1億3千万人です。"),
        ("人口は120,000,000人です。", "人口は1億2000万人です。", "人口は1億3000万人です。"),
        ("The budget is ₹50 lakh.", "The budget is 5,000,000 rupees.", "The budget is 6,000,000 rupees."),
        ("The budget is ₹50,00,000.", "The budget is ₹50 lakh.", "The budget is ₹60 lakh."),
        ("The budget is ₹2.5 crore.", "The budget is 25 million rupees.", "The budget is 35 million rupees."),
        ("The grant is 2,500 euros.", "The grant is €2.5k.", "The grant is €3.5k."),
        ("Der Umsatz lag bei 3,2 Millionen Euro.", "Der Umsatz lag bei 3,2 Mio. €.", "Der Umsatz lag bei 3,8 Mio. €."),
        ("The deal was worth 4 billion dollars.", "The deal was worth $4bn.", "The deal was worth $4m."),
        ("The model was trained on 2,000,000 images.", "The model was trained on 2e6 images.", "The model was trained on 2e7 images."),
        ("The sample holds 50,000 cells.", "The sample holds 5×10⁴ cells.", "The sample holds 5×10⁵ cells."),
        ("The wavelength is 0.0000005 m.", "The wavelength is 5×10^-7 m.", "The wavelength is 5×10^-6 m."),
        ("The index has 10,000 pages.", "The index has 10^4 pages.", "The index has 10^5 pages."),
        ("Die Miete beträgt 1.200 Franken.", "Die Miete beträgt 1'200 CHF.", "Die Miete beträgt 1'300 CHF."),
        ("市の人口は35万人です。", "市の人口は350,000人です。", "市の人口は360,000人です。"),
        ("予算は2億5000万円です。", "予算は250,000,000円です。", "予算は350,000,000円です。"),
        ("参加者は3千人です。", "参加者は3000人です。", "参加者は4000人です。"),
        ("The house costs 7.5 million rupees.", "The house costs ₹75 lakh.", "The house costs ₹85 lakh."),
    ],
    "digits": [
        ("السعر 120 دينار.", "السعر ١٢٠ دينار.", "السعر ١٣٠ دينار."),
        ("कीमत 450 रुपये है।", "कीमत ४५० रुपये है।", "कीमत ४६० रुपये है।"),
        ("المسافة 12.5 كيلومتر.", "المسافة ١٢٫٥ كيلومتر.", "المسافة ١٣٫٥ كيلومتر."),
        ("عدد السكان 1,250 نسمة.", "عدد السكان ١٬٢٥٠ نسمة.", "عدد السكان ١٬٣٥٠ نسمة."),
        ("السرعة 90 كم.", "السرعة ٩٠ كم.", "السرعة ٨٠ كم."),
        ("किराया 1,200 रुपये है।", "किराया १,२०० रुपये है।", "किराया १,३०० रुपये है।"),
    ],
    "roman": [
        ("The film was made in 2024.", "The film was made in MMXXIV.", "The film was made in MMXXIII."),
    ],
    "ordinal": [
        ("The team finished 3rd.", "The team finished third.", "The team finished fourth."),
        ("The team finished in third place.", "The team finished in 3rd place.", "The team finished in 4th place."),
        ("This is the 21st edition.", "This is the twenty-first edition.", "This is the twenty-second edition."),
        ("The clinic is on the 2nd floor.", "The clinic is on the second floor.", "The clinic is on the third floor."),
        ("The race takes place on March 3.", "The race takes place on the third of March.", "The race takes place on the fourth of March."),
        ("The bridge was opened in 1998.", "The bridge was opened in MCMXCVIII.", "The bridge was opened in MCMXCVII."),
        ("The drug is in a phase 3 trial.", "The drug is in a phase III trial.", "The drug is in a phase II trial."),
        ("The offices are on the fifth floor.", "The offices are on the 5th floor.", "The offices are on the 6th floor."),
        ("The festival has its 30th edition.", "The festival has its 30th edition.", "The festival has its 31st edition."),
        ("The team came fourth in the league.", "The team came 4th in the league.", "The team came 5th in the league."),
        ("The fair is on 12 June.", "The fair is on the twelfth of June.", "The fair is on the eleventh of June."),
    ],
    "period": [
        ("Revenue rose in the third quarter of fiscal year 2024.", "Revenue rose in Q3 FY24.", "Revenue rose in Q2 FY24."),
        ("Revenue rose in Q3 FY2024.", "Revenue rose in Q3 FY24.", "Revenue rose in Q3 FY23."),
        ("Revenue rose in the third quarter of 2024.", "Revenue rose in Q3 2024.", "Revenue rose in Q2 2024."),
        ("Revenue rose in Q3 2024.", "Revenue rose in 2024 Q3.", "Revenue rose in 2024 Q4."),
        ("Revenue rose in Q3 2024.", "Revenue rose in Q3'24.", "Revenue rose in Q4'24."),
        ("Revenue rose in Q3 2024.", "Revenue rose in 3Q24.", "Revenue rose in 4Q24."),
        ("Revenue rose in the first half of 2024.", "Revenue rose in H1 2024.", "Revenue rose in H2 2024."),
        ("The release is planned for week 7 of 2024.", "The release is planned for 2024-W07.", "The release is planned for 2024-W08."),
        ("Das Release ist für KW 7 geplant.", "Das Release ist für Kalenderwoche 7 geplant.", "Das Release ist für Kalenderwoche 8 geplant."),
        ("The band was formed in the 1990s.", "The band was formed in the '90s.", "The band was formed in the '80s."),
        ("The band was formed in the 1990s.", "The band was formed in the nineties.", "The band was formed in the eighties."),
        ("Die Band entstand in den 1990er Jahren.", "Die Band entstand in den Neunzigern.", "Die Band entstand in den Achtzigern."),
        ("Die Band entstand in den 1990er Jahren.", "Die Band entstand in den 90er Jahren.", "Die Band entstand in den 80er Jahren."),
        ("The band was formed in 1994.", "The band was formed in the '90s.", "The band was formed in the '80s."),
        ("Work began in the middle of 2019.", "Work began in mid-2019.", "Work began in mid-2018."),
        ("Work began in June 2019.", "Work began in mid-2019.", "Work began in mid-2018."),
        ("Profit fell in Q2 2023.", "Profit fell in Q2 FY23.", "Profit fell in Q3 FY23."),
        ("Profit fell in the second half of 2023.", "Profit fell in H2 2023.", "Profit fell in H1 2023."),
        ("Profit fell in the fourth quarter of 2022.", "Profit fell in 4Q22.", "Profit fell in 3Q22."),
        ("The sprint ends in week 12 of 2025.", "The sprint ends in 2025-W12.", "The sprint ends in 2025-W13."),
        ("The label was founded in the 1980s.", "The label was founded in the '80s.", "The label was founded in the '70s."),
        ("The label was founded in the 1970s.", "The label was founded in the seventies.", "The label was founded in the sixties."),
        ("Das Haus stammt aus den 1970er Jahren.", "Das Haus stammt aus den Siebzigern.", "Das Haus stammt aus den Sechzigern."),
        ("Construction ends in the middle of 2027.", "Construction ends in mid-2027.", "Construction ends in mid-2029."),
    ],
    "minus": [
        ("The cold store is at -5 °C.", "The cold store is at −5°C.", "The cold store is at −8°C."),
        ("The cold store is at -5 °C.", "The cold store is at minus five degrees Celsius.", "The cold store is at minus six degrees Celsius."),
        ("The cold store is at -5 °C.", "The cold store is at 5 °C below zero.", "The cold store is at 5 °C above zero."),
        ("The profit was -3%.", "The profit was minus 3 percent.", "The profit was 3 percent."),
        ("The result was (1,200) euros.", "The result was -1,200 euros.", "The result was -1,300 euros."),
    ],
    "unit": [
        ("The oven is set to 180 °C.", "The oven is set to 356 °F.", "The oven is set to 180 °F."),
        ("The oven is set to 350 °F.", "The oven is set to 177 °C.", "The oven is set to 350 °C."),
        ("The road is 100 km long.", "The road is 62 miles long.", "The road is 100 miles long."),
        ("The road is 10 miles long.", "The road is 16 km long.", "The road is 20 km long."),
        ("The plant produces 1,500 kWh.", "The plant produces 1.5 MWh.", "The plant produces 1.5 GWh."),
        ("The plant produces 2 TWh a year.", "The plant produces 2,000 GWh a year.", "The plant produces 2,000 MWh a year."),
        ("The bag weighs 5 kg.", "The bag weighs 11 lbs.", "The bag weighs 5 lbs."),
        ("The file has 2 GB.", "The file has 2,000 MB.", "The file has 200 MB."),
        ("The box is 30 cm wide.", "The box is 0.3 m wide.", "The box is 3 m wide."),
        ("The flat has 80 m².", "The flat has 80 square metres.", "The flat has 90 square metres."),
        ("The trip takes 90 minutes.", "The trip takes 1.5 hours.", "The trip takes 2.5 hours."),
        ("The trip takes 90 minutes.", "The trip takes 1 h 30 min.", "The trip takes 2 h 30 min."),
        ("The lease runs for 24 months.", "The lease runs for two years.", "The lease runs for three years."),
    ],
    "share": [
        ("Inflation rose by 2 percentage points.", "Inflation rose by 2 pp.", "Inflation rose by 2 percent."),
        ("Inflation rose by 2 percentage points.", "Inflation rose by 2 percentage points.", "Inflation rose by 3 percentage points."),
        ("The bank raised the rate by 0.25 percentage points.", "The bank raised the rate by 25 basis points.", "The bank raised the rate by 50 basis points."),
        ("The bank raised the rate by 25 basis points.", "The bank raised the rate by 25 bps.", "The bank raised the rate by 75 bps."),
        ("The bank raised the rate by 25 basis points.", "The bank raised the rate by a quarter of a percentage point.", "The bank raised the rate by half a percentage point."),
        ("The fee is 0.5%.", "The fee is 5‰.", "The fee is 50‰."),
        ("The fee is 12%.", "The fee is 12 per cent.", "The fee is 15 per cent."),
        ("The fee is twelve percent.", "The fee is 12 %.", "The fee is 20 %."),
        ("25% of users pay.", "One in four users pays.", "One in five users pays."),
        ("25% of users pay.", "A quarter of users pay.", "A third of users pay."),
        ("75% of users pay.", "Three quarters of users pay.", "Two thirds of users pay."),
        ("75% of users pay.", "Three-quarters of users pay.", "Two-thirds of users pay."),
        ("Two thirds of users pay.", "About 67% of users pay.", "About 57% of users pay."),
        ("75% of users pay.", "3/4 of users pay.", "1/4 of users pay."),
        ("75% of users pay.", "3 out of 4 users pay.", "2 out of 4 users pay."),
        ("75 % der Nutzer zahlen.", "Drei Viertel der Nutzer zahlen.", "Zwei Drittel der Nutzer zahlen."),
        ("50% of users pay.", "Half of the users pay.", "A third of the users pay."),
        ("40% of members vote.", "Two in five members vote.", "Three in five members vote."),
        ("The bank cut the rate by 0.5 percentage points.", "The bank cut the rate by 50 bps.", "The bank cut the rate by 75 bps."),
        ("The share rose by 3 percentage points.", "The share rose by 3 pp.", "The share rose by 5 pp."),
        ("Das Salzgehalt beträgt 3,5 %.", "Das Salzgehalt beträgt 35 ‰.", "Das Salzgehalt beträgt 45 ‰."),
        ("Two thirds of members vote.", "2/3 of the members vote.", "1/3 of the members vote."),
    ],
    "ratio": [
        ("The ratio of sand to cement is 3:1.", "The ratio of sand to cement is 3 to 1.", "The ratio of sand to cement is 4 to 1."),
        ("The ratio of sand to cement is 3:1.", "The ratio of sand to cement is 3:1.", "The ratio of sand to cement is 4:1."),
        ("The ratio of sand to cement is three to one.", "The ratio of sand to cement is 3:1.", "The ratio of sand to cement is 2:1."),
        ("The team won 3:1.", "The team won 3-1.", "The team won 3-2."),
        ("The team won 3–1.", "The team won three to one.", "The team won three to two."),
        ("Mix water and rice in a ratio of 2:1.", "Mix water and rice in a ratio of 2 to 1.", "Mix water and rice in a ratio of 3 to 1."),
        ("Germany won 4:2.", "Germany won 4–2.", "Germany won 4–1."),
        ("The home side lost two to one.", "The home side lost 2-1.", "The home side lost 3-1."),
        ("The council voted 7 to 2 for the plan.", "The council voted 7–2 for the plan.", "The council voted 6–3 for the plan."),
        ("The odds are 5:1.", "The odds are five to one.", "The odds are ten to one."),
        ("The game ended with a score of 21-14.", "The game ended with a score of 21 to 14.", "The game ended with a score of 24 to 14."),
    ],
    "range": [
        ("Delivery takes 3 to 5 days.", "Delivery takes 3–5 days.", "Delivery takes 4–7 days."),
        ("Delivery takes 3-5 days.", "Delivery takes between three and five days.", "Delivery takes between three and nine days."),
        ("The price is $10–15.", "The price is 10 to 15 dollars.", "The price is 20 to 25 dollars."),
        ("The price is $10-$15.", "The price is between $10 and $15.", "The price is between $10 and $25."),
        ("Ages 6–12 are admitted.", "Ages 6 to 12 are admitted.", "Ages 6 to 14 are admitted."),
        ("Shipping takes 2–4 weeks.", "Shipping takes two to four weeks.", "Shipping takes three to six weeks."),
        ("The trip lasts 5-7 hours.", "The trip lasts 5 to 7 hours.", "The trip lasts 6 to 8 hours."),
        ("The repair lasts 10–14 days.", "The repair lasts between 10 and 14 days.", "The repair lasts between 10 and 24 days."),
        ("The refund takes 7–10 business days.", "The refund takes 7 to 10 business days.", "The refund takes 5 to 8 business days."),
        ("The tour takes two to three hours.", "The tour takes 2–3 hours.", "The tour takes 3–4 hours."),
        ("A room costs €80–€95 a night.", "A room costs between €80 and €95 a night.", "A room costs between €80 and €120 a night."),
        ("Die Lieferung dauert 3 bis 5 Tage.", "Die Lieferung dauert 3–5 Tage.", "Die Lieferung dauert 4–8 Tage."),
        ("Support answers in 2-3 hours.", "Support answers in two to three hours.", "Support answers in four to six hours."),
        ("The course has 12–15 pupils.", "The course has 12 to 15 pupils.", "The course has 15 to 20 pupils."),
    ],
    "identifier": [
        ("Call 030 1234567 for help.", "Call 030-1234567 for help.", "Call 030-1234568 for help."),
        ("Call +49 30 1234567 for help.", "Call +49 (30) 1234567 for help.", "Call +49 (30) 1234667 for help."),
        ("Call (555) 123-4567 for help.", "Call 555-123-4567 for help.", "Call 555-123-4576 for help."),
        ("Call 555.123.4567 for help.", "Call 555 123 4567 for help.", "Call 555 123 4657 for help."),
        ("The tool needs Python 3.10.", "The tool needs Python 3.10.", "The tool needs Python 3.1."),
        ("The tool needs Python 3.10.", "The tool needs Python version 3.10.", "The tool needs Python 3.11."),
        ("The fix is in version 2.4.1.", "The fix is in v2.4.1.", "The fix is in v2.4.2."),
        ("The fix is in version 2.4.", "The fix is in v2.4.", "The fix is in v2.5."),
        ("Order part AB-1200.", "Order part AB 1200.", "Order part AB 1250."),
        ("Order part AB-1200.", "Order part AB-1200.", "Order part AC-1200."),
        ("The server has the address 10.0.0.12.", "The server has the address 10.0.0.12.", "The server has the address 10.0.0.21."),
        ("The port is 8080.", "The port is 8080.", "The port is 8088."),
        ("Call 0800 123 4567 for advice.", "Call 0800-1234567 for advice.", "Call 0800-1234576 for advice."),
        ("The hotline is +44 20 7946 0958.", "The hotline is 020 7946 0958.", "The hotline is 020 7946 0985."),
        ("The phone number is (212) 555-0147.", "The phone number is 212-555-0147.", "The phone number is 212-555-0174."),
        ("The app runs on Node 18.12.", "The app runs on Node 18.12.", "The app runs on Node 18.2."),
        ("The bug is fixed in version 1.10.", "The bug is fixed in version 1.10.", "The bug is fixed in version 1.1."),
        ("The bug is fixed in v3.2.1.", "The bug is fixed in version 3.2.1.", "The bug is fixed in version 3.2.2."),
        ("The gateway has the address 192.168.1.10.", "The gateway has the address 192.168.1.10.", "The gateway has the address 192.168.1.1."),
    ],
}  # fmt: skip
"""By kind: a source, a right claim in another form, and the same claim with a wrong figure."""


def verdicts(claim: str, source: str) -> list[str]:
    context = ContextChunk(chunk_id="c", content=source, source_type="document")
    answer = GeneratedAnswer(answer_id="a", answer=claim, contexts=[context], completed_at=DONE)
    found = evaluate_grounding(prepare_grounding(answer), GroundingThresholds())
    return [claim.verdict for claim in found.claims]


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [pytest.param(*case, id=f"{kind}-{number}") for kind, cases in CASES.items() for number, case in enumerate(cases)],
)
def test_a_figure_is_compared_in_any_form(source: str, right: str, wrong: str) -> None:
    assert verdicts(right, source) == ["supported"]
    assert "supported" not in verdicts(wrong, source)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("at half past nine", "at 9:30 o'clock"),
        ("at a quarter past eight in the evening", "at 8:15 pm"),
        ("um dreiviertel vier", "um 3:45 o'clock"),
        ("Viertel vor zehn abends", "9:45 pm"),
        ("9–17 Uhr", "9:00–17:00"),
        ("à six heures et demie", "à 6:30 o'clock"),
        ("1e6 rows, 3×10^5 cells, 10⁻³ m", "1000000 rows, 300000 cells, 0.001 m"),
        ("10^100", "10^100"),
        ("in Q3 FY24, 3Q24 and 2024-Q3", "in Q3 2024, Q3 2024 and Q3 2024"),
        ("2024-W07", "week 7 of 2024"),
        ("the '90s, the 1990er Jahre, in the nineties", "the 1990s, the 1990s, in the 1990s"),
        ("MMXXIV", "2024"),
        ("a type II error", "a type 2 error"),
        ("1 1/2 cups", "1.5 cups"),
        ("half a dozen eggs", "6 eggs"),
        ("a couple of weeks", "about 2 weeks"),
        ("5 °C below zero", "-5 °C"),
        ("won 3-1", "won 3∶1"),
        ("on the third floor", "on the 3rd floor"),
        ("１億2千万人", "120000000 人 "),
        ("call +49 (30) 1234567", "call tel-01234567"),
    ],
)
def test_a_form_is_written_plainly(text: str, plain: str) -> None:
    assert plain_forms(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        *("from five to ten employees", "one in the morning and one in the afternoon", "a quarter to 12 percent"),
        *(
            "in her seventies",
            "temperatures of 90 degrees",
            "part I was long",
            "I MIX it",
            "CD and DVD",
            "a 24 h service",
        ),
        *("the 3rd, a third of them", "delivery in 3-5 days", "won at 21:14", "scored 3 to 5 points", "on 2024-01-05"),
        *("a couple of friends", "1/2 in favour", "a report of 1,250,000 people", "call 3 people in 2024", "E2E tests"),
    ],
)
def test_what_only_looks_like_a_form_stays(text: str) -> None:
    assert plain_forms(text) == text


def test_a_time_without_its_half_of_the_day_agrees_with_both() -> None:
    known = DatePool(read_details("It opens at 17:45 and closes at 24:00.").dates)
    (open_time,) = read_details("It opens at quarter to six.").dates
    (early,) = read_details("It opens at quarter to six in the morning.").dates
    (midnight,) = read_details("It closes at midnight.").dates
    assert known.agrees(open_time)
    assert not known.agrees(early)
    assert known.agrees(midnight)


def test_a_result_may_be_told_from_either_side_and_a_ratio_not() -> None:
    assert verdicts("Lysvik won 3–2.", "The game between Stavne and Lysvik ended 2:3, so Lysvik won.") == ["supported"]
    assert verdicts("The ratio of sand to cement is 1:3.", "The ratio of sand to cement is 3:1.") != ["supported"]
    goals = "score of Stavne: 2; score of Lysvik: 3; Lysvik won."
    assert verdicts("Lysvik won 3–2.", goals) == ["supported"]
    assert verdicts("Lysvik won 4–2.", goals) != ["supported"]


def test_a_side_of_a_result_is_a_figure_of_its_own() -> None:
    assert verdicts("Rovers scored 14 points.", "Rovers won 14–9.") == verdicts(
        "Rovers scored 14 points.", "Rovers won by 14."
    )
    assert {each.face for each in read_details("Rovers won 14–9.").quantities} == {14.0, 9.0, 14009.0}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Bus 7 came an hour late", {("bus", "7")}),
        ("Bus 7 an hour late", {("bus", "7")}),
        ("Grinder 5 day shift", {("grinder", "5")}),
        ("Model 3 second row", {("model", "3")}),
        ("Gate 12 B", {("gate", "12")}),
        ("die Fahrt 65 Euro", set()),
        ("Use 150 g of sugar", set()),
        ("Use 2 cups of sugar", set()),
        ("we order 5 kg", set()),
        ("we order 5 day passes", set()),
        ("GW-12 kg", {("gw", "12")}),
    ],
)
def test_a_number_before_its_unit_is_no_identifier(text: str, codes: set[tuple[str, str]]) -> None:
    assert read_details(text).codes == codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Python 3.10", {("version", "3.10")}),
        ("v2.4.1 and 10.0.0.12", {("version", "2.4.1"), ("version", "10.0.0.12")}),
        ("1.234.567 people", set()),
        ("a growth of 3.10 points", set()),
    ],
)
def test_a_dotted_number_of_a_version_is_an_identifier(text: str, codes: set[tuple[str, str]]) -> None:
    assert read_details(text).codes == codes


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "half past ",
            "a quarter to ",
            "halb ",
            "10^",
            "1e",
            "3×10",
            "'90s ",
            "MMXX",
            "Q3 ",
            "1/2 ",
            "won 3",
            "3:1 ",
            "third ",
        ),
        *(
            "030 123",
            "(030) ",
            "one to ",
            "3–5 ",
            "between two and ",
            "1.2.",
            "v1.",
            "千万",
            "1億",
            "in the ",
            "a dozen ",
            "12 Uhr ",
        ),
    ],
)
def test_time_stays_linear_whatever_the_form(piece: str) -> None:
    check_linear(lambda text: partial(plain_forms, text), repeated(piece), repr(piece))
