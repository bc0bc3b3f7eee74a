"""Hold relations between a subject and a value, in several wordings, for the pairs of ``training.ownership``.

A relation has the kind of its subject and of its value, what follows the subject in a clause, whole sentences that put
it otherwise, what is left of a clause after a first one of the same kind ("..., Bob 12"), and the head of a column.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Relation:
    """Hold the wordings of a relation.

    Attributes:
        subject: kind of subject; see ``training.ownership``.
        value: kind of value.
        phrases: predicates with ``{v}``.
        sentences: sentences with ``{s}`` and ``{v}``.
        rest: the value in a clause without a verb.
        column: head of a column or name of a field.
    """

    subject: str
    value: str
    phrases: tuple[str, ...]
    sentences: tuple[str, ...]
    rest: str
    column: str


_TABLE = """
person|year|was born in {v}; came into the world in {v}|{v} is the year in which {s} was born; The birth of {s} was in {v}|in {v}|born
person|year|died in {v}; passed away in {v}|{s}'s death came in {v}; {v} saw the death of {s}|in {v}|died
person|year|joined in {v}; was hired in {v}; has been with us since {v}|{v} was the year {s} joined; The contract of {s} dates from {v}|in {v}|joined
person|year|was elected in {v}; won the election of {v}|The election of {s} took place in {v}|in {v}|elected
person|year|graduated in {v}; finished university in {v}|{s} has held a degree since {v}|in {v}|graduation
person|money|earns {v}; is paid {v}; has a salary of {v}; makes {v}|{s}'s salary is {v}; A salary of {v} goes to {s}|{v}|salary
person|money|owes {v}; has a debt of {v}; still has to pay {v}|The debt of {s} amounts to {v}|{v}|debt
person|money|donated {v}; gave {v}; contributed {v}|A gift of {v} came from {s}; {s}'s donation was {v}|{v}|donation
person|age|is {v} old; is aged {v}|{s}'s age is {v}; At {v}, {s} is still active|{v}|age
person|city|lives in {v}; has a home in {v}; resides in {v}; is based in {v}|{v} is the home of {s}; {s}'s address is in {v}|in {v}|city
person|city|was born in {v}; comes from {v}; grew up in {v}; is from {v}|{v} is the birthplace of {s}; {s}'s home town is {v}|in {v}|birthplace
person|role|leads {v}; is the head of {v}; runs {v}; is in charge of {v}; manages {v}|{v} is led by {s}; The head of {v} is {s}; {v} reports to {s}; {s} is responsible for {v}|{v}|responsible for
person|task|wrote {v}; is the author of {v}; drafted {v}|{v} was written by {s}; The author of {v} is {s}; {v} comes from {s}|{v}|wrote
person|task|reviewed {v}; checked {v}; read through {v}|{v} was reviewed by {s}; The reviewer of {v} was {s}|{v}|reviewed
person|dish|ordered {v}; had {v}; asked for {v}; chose {v}|{v} was ordered by {s}; {v} was for {s}|{v}|order
person|colour|wore {v}; was dressed in {v}; came in {v}|{v} was what {s} wore|{v}|colour
person|room|works in {v}; sits in {v}; has a desk in {v}|{v} is the office of {s}; {s}'s office is {v}|in {v}|office
person|count|scored {v} points; had {v} points; finished with {v} points|{v} points went to {s}; {s}'s total was {v} points|{v}|points
person|count|sold {v} tickets; handed out {v} tickets|{v} tickets were sold by {s}|{v}|tickets
person|rank|finished {v}; came {v}; was placed {v}|{v} place went to {s}|{v}|place
person|drug|takes {v}; was given {v}; is treated with {v}; received {v}|{v} was prescribed to {s}; {v} is the medication of {s}|{v}|drug
person|allergen|is allergic to {v}; cannot tolerate {v}; reacts to {v}|An allergy to {v} was found in {s}; {v} causes reactions in {s}|to {v}|allergy
person|vehicle|drives {v}; owns {v}; came with {v}|{v} belongs to {s}; {v} is {s}'s|{v}|vehicle
person|language|speaks {v}; is fluent in {v}; teaches {v}|{v} is the language of {s}|{v}|language
person|weekday|is on duty on {v}; works on {v}; takes the shift on {v}|The shift of {s} is on {v}; {v} is covered by {s}|on {v}|shift
building|length|is {v} tall; has a height of {v}; rises {v}; reaches {v}; stands {v} high|The height of {s} is {v}; With {v}, {s} dominates the street; {s}'s roof is at {v}|{v}|height
building|year|was built in {v}; opened in {v}; was completed in {v}; dates from {v}|The construction of {s} ended in {v}; {v} is the year in which {s} was finished|in {v}|built
building|area|covers {v}; has a floor area of {v}; offers {v}|The floor area of {s} is {v}; {v} are available in {s}|{v}|area
building|money|cost {v}; was sold for {v}; changed hands for {v}|{v} was paid for {s}; The price of {s} was {v}|{v}|price
building|person|was designed by {v}; was drawn by {v}; is the work of {v}|{v} designed {s}; The architect of {s} was {v}; {v} drew the plans of {s}|by {v}|architect
building|hour|opens at {v}; can be visited from {v}|The doors of {s} open at {v}|at {v}|opens
building|hour|closes at {v}; shuts at {v}|The doors of {s} close at {v}|at {v}|closes
company|money|had revenue of {v}; earned {v}; turned over {v}; reported sales of {v}|Revenue at {s} came to {v}; The turnover of {s} was {v}|{v}|revenue
company|money|paid {v} in taxes; owes {v} to the tax office|The tax bill of {s} is {v}|{v}|taxes
company|count|has {v} employees; employs {v} people; has a staff of {v}|{v} people work for {s}; The workforce of {s} is {v}|{v}|employees
company|percent|holds {v} of the market; has a market share of {v}; serves {v} of customers|The share of {s} is {v}; {v} of the market belongs to {s}|{v}|market share
company|percent|grew by {v}; expanded {v}; saw growth of {v}|Growth at {s} was {v}; {s}'s sales rose {v}|by {v}|growth
company|year|was founded in {v}; started in {v}; has existed since {v}; was set up in {v}|{v} is the founding year of {s}; The founding of {s} was in {v}|in {v}|founded
company|city|is based in {v}; has its headquarters in {v}; sits in {v}|The head office of {s} is in {v}; {v} is the seat of {s}|in {v}|headquarters
company|person|is led by {v}; is headed by {v}; was founded by {v}|{v} runs {s}; {v} is the chief executive of {s}; At the top of {s} is {v}|by {v}|chief executive
company|goods|makes {v}; produces {v}; sells {v}; is known for {v}|{v} come from {s}; {s} is a maker of {v}|{v}|products
company|count|ordered {v} units; bought {v} units|{v} units went to {s}; The order of {s} was for {v} units|{v}|units
product|money|costs {v}; is priced at {v}; sells for {v}; is available for {v}|The price of {s} is {v}; You pay {v} for {s}; {v} is what {s} costs|{v}|price
product|weight|weighs {v}; has a weight of {v}; comes to {v}|The weight of {s} is {v}; At {v}, {s} can be carried by hand|{v}|weight
product|duration|has a warranty of {v}; is guaranteed for {v}; comes with {v} of warranty|The warranty on {s} is {v}; {v} of warranty come with {s}|{v}|warranty
product|duration|lasts {v} on a charge; runs for {v}; has a battery life of {v}|The battery of {s} holds for {v}|{v}|battery life
product|memory|has {v} of memory; comes with {v}; needs {v} of RAM; uses {v}|The memory of {s} is {v}; {v} are built into {s}|{v}|memory
product|power|draws {v}; has a power of {v}; consumes {v}|The consumption of {s} is {v}|{v}|power
product|temperature|works up to {v}; withstands {v}; tolerates {v}|The limit of {s} is {v}; {v} is the highest temperature for {s}|{v}|maximum temperature
product|colour|is {v}; comes in {v}; is painted {v}|{v} is the colour of {s}|{v}|colour
product|material|is made of {v}; consists of {v}|{v} is the material of {s}; {v} was used for {s}|of {v}|material
product|percent|has a discount of {v}; is reduced by {v}; is {v} off|A discount of {v} applies to {s}; Customers save {v} on {s}|{v}|discount
product|version|runs version {v}; is at version {v}; ships with {v}|The version of {s} is {v}|{v}|version
product|count|supports {v} users; is limited to {v} users; allows {v} users|Up to {v} users can share {s}; The limit of {s} is {v} users|{v}|users
city|count|has {v} inhabitants; is home to {v} people; counts {v} residents|{v} people live in {s}; The population of {s} is {v}|{v}|population
city|temperature|reached {v}; recorded {v}; had a high of {v}|It was {v} in {s}; Thermometers in {s} showed {v}|{v}|temperature
city|distance|is {v} away; lies {v} from here; is {v} down the road|The distance to {s} is {v}; It is {v} to {s}|{v}|distance
city|river|lies on the {v}; is crossed by the {v}; stands on the {v}|The {v} flows through {s}; The river of {s} is the {v}|on the {v}|river
city|person|has {v} as mayor; is governed by {v}; elected {v}|The mayor of {s} is {v}; {v} is mayor of {s}|{v}|mayor
team|count|won {v} games; scored {v} goals; has {v} wins; collected {v} points|{v} goals were scored by {s}; The tally of {s} is {v}|{v}|wins
team|city|plays in {v}; is at home in {v}; trains in {v}|{v} is the home of {s}|in {v}|home
team|weekday|meets on {v}; has its meeting on {v}; trains on {v}|The meeting of {s} is on {v}; {v} is reserved for {s}|on {v}|meeting
team|person|is coached by {v}; is led by {v}; has {v} as its coach|{v} coaches {s}; The coach of {s} is {v}|by {v}|coach
team|money|has a budget of {v}; may spend {v}; received {v}|The budget of {s} is {v}; {v} were set aside for {s}|{v}|budget
plan|money|costs {v} a month; is {v} per month; is billed at {v} monthly|The fee of {s} is {v} a month; {v} a month are due for {s}|{v}|monthly fee
plan|duration|runs for {v}; has a term of {v}; ends after {v}|The term of {s} is {v}|{v}|term
plan|duration|can be cancelled with {v} of notice; has a notice period of {v}|Notice for {s} is {v}|{v}|notice period
plan|count|includes {v} seats; covers {v} devices; comes with {v} licences|{v} seats are part of {s}|{v}|seats
plan|memory|includes {v} of storage; offers {v} of space|The storage in {s} is {v}; {v} of storage come with {s}|{v}|storage
plan|percent|has an availability of {v}; promises {v} uptime|Uptime for {s} is {v}; {v} is guaranteed for {s}|{v}|uptime
project|date|is due on {v}; must be delivered by {v}; ends on {v}|The deadline for {s} is {v}; {v} is the deadline of {s}|on {v}|deadline
project|date|started on {v}; began on {v}; was launched on {v}|The start of {s} was {v}; Work on {s} began on {v}|on {v}|start
project|money|has a budget of {v}; cost {v}; received {v}|The budget of {s} is {v}; {v} went into {s}|{v}|budget
project|person|is led by {v}; is managed by {v}; belongs to {v}|{v} leads {s}; The manager of {s} is {v}; {v} looks after {s}|by {v}|manager
project|duration|takes {v}; lasts {v}; is planned for {v}|The duration of {s} is {v}; {v} are planned for {s}|{v}|duration
project|status|is {v}; has been {v}; was {v}|The status of {s} is {v}|{v}|status
server|memory|needs {v}; has {v} of memory; is configured with {v}; is limited to {v}|The limit of {s} is {v}; {v} are reserved for {s}|{v}|memory
server|duration|times out after {v}; waits {v}; retries every {v}|The timeout of {s} is {v}; After {v}, {s} gives up|{v}|timeout
server|port|listens on port {v}; uses port {v}; answers on {v}|Port {v} belongs to {s}; The port of {s} is {v}|on {v}|port
server|hour|restarts at {v}; runs at {v}; is backed up at {v}|The backup of {s} is at {v}|at {v}|time
server|city|runs in {v}; is hosted in {v}; stands in {v}|{v} hosts {s}|in {v}|region
drug|dose|is given at {v}; is dosed at {v}; is taken at {v}|The dose of {s} is {v}; {v} is the usual amount of {s}|{v}|dose
drug|duration|acts for {v}; works for {v}; has an effect of {v}|The effect of {s} lasts {v}|{v}|effect
drug|allergen|causes {v}; can lead to {v}; may trigger {v}|{v} is a side effect of {s}; {v} was seen with {s}|{v}|side effect
room|count|seats {v}; holds {v} people; has {v} places|{v} people fit into {s}; The capacity of {s} is {v}|{v}|capacity
room|floor|is on the {v}; can be found on the {v}|The {v} houses {s}|on the {v}|floor
room|hour|is free at {v}; is booked at {v}|The booking of {s} is at {v}|at {v}|booking
river|length|is {v} long; has a length of {v}; runs for {v}; flows {v}|The length of {s} is {v}; {s} covers {v} before it ends|{v}|length
country|city|has its capital in {v}; is governed from {v}|{v} is the capital of {s}; The capital of {s} is {v}|{v}|capital
country|percent|taxes sales at {v}; has a rate of {v}; charges {v}|The rate in {s} is {v}; {v} apply in {s}|{v}|rate
country|year|joined in {v}; became a member in {v}; signed in {v}|The entry of {s} was in {v}|in {v}|joined
book|person|was written by {v}; is by {v}|{v} wrote {s}; The author of {s} is {v}; {v} is the author of {s}|by {v}|author
book|year|appeared in {v}; was published in {v}; came out in {v}|The publication of {s} was in {v}; {v} saw the publication of {s}|in {v}|published
book|count|has {v} pages; runs to {v} pages|{v} pages make up {s}|{v}|pages
book|money|sold for {v}; costs {v}|{v} was paid for {s}|{v}|price
"""

RELATIONS = tuple(
    Relation(
        subject,
        value,
        tuple(each.strip() for each in phrases.split(";")),
        tuple(each.strip() for each in sentences.split(";")),
        rest,
        column,
    )
    for subject, value, phrases, sentences, rest, column in (line.split("|") for line in _TABLE.strip().splitlines())
)

_DIRECTED = """
acquired; bought; took over|was acquired by; was bought by; was taken over by
beat; defeated; won against|was beaten by; lost to; was defeated by
sued; took legal action against; brought a case against|was sued by; was taken to court by
hired; employed; recruited|was hired by; was employed by; works for
taught; trained; was the teacher of|was taught by; learned from; studied under
reports to; works under; answers to|manages; is the boss of; supervises
sold the machine to; delivered the machine to; supplied|bought the machine from; got the machine from; was supplied by
lent money to; gave a loan to|borrowed money from; got a loan from; owes money to
pays rent to; rents from; is a tenant of|lets rooms to; is the landlord of; receives rent from
is older than; was founded before; predates|is younger than; was founded after; is newer than
is taller than; is larger than; exceeds|is smaller than; is shorter than; is exceeded by
is faster than; is quicker than; outpaces|is slower than; is outpaced by
costs more than; is more expensive than; is dearer than|costs less than; is cheaper than
is north of; lies to the north of|is south of; lies to the south of
replaced; succeeded; came after|was replaced by; was succeeded by; came before
called; rang; phoned|was called by; got a call from; was phoned by
wrote to; sent a letter to|got a letter from; received mail from
approved the request of; said yes to|had a request approved by; got the consent of
invested in; bought shares of|received money from; has as an investor
depends on; requires; needs|is required by; is needed by; is a prerequisite of
"""
DIRECTED = tuple(
    tuple(tuple(each.strip() for each in side.split(";")) for side in line.split("|"))
    for line in _DIRECTED.strip().splitlines()
)
"""Relations between two of a kind: wordings, and those of the same seen from the other side."""
