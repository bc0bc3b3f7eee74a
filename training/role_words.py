"""Words of the written scenes of ``training.roles``: who is in them, what they can do to each other, what else happens.

Rows are parted by ``|``. The words of the project's own test sentences about roles (sue, delay, praise, feed, beat,
bank, customer, ferry ...) are in none of the lists, so that those sentences ask for what was learnt, not for what was
seen; a unit test holds that.
"""

PEOPLE: dict[str, str] = {
    "workshop": (
        "welder|apprentice|foreman|electrician|carpenter|crane driver|supplier|storekeeper|inspector|engineer|painter"
        "|plumber|trainee|night guard|owner|cleaner"
    ),
    "court": (
        "judge|witness|lawyer|defendant|prosecutor|clerk|landlord|tenant|juror|detective|heir|notary|neighbour"
        "|mediator|insurer|contractor"
    ),
    "sport": (
        "striker|goalkeeper|referee|coach|captain|defender|cyclist|sprinter|swimmer|rower|physiotherapist|champion"
        "|challenger|umpire|scout|newcomer"
    ),
    "hospital": (
        "nurse|surgeon|patient|porter|pharmacist|midwife|dentist|paramedic|student|visitor|therapist|donor|receptionist"
        "|specialist|relative|volunteer"
    ),
    "office": (
        "director|secretary|accountant|auditor|programmer|designer|manager|consultant|intern|recruiter|client|partner"
        "|translator|analyst|editor|investor"
    ),
    "household": (
        "mother|uncle|cousin|gardener|nephew|aunt|lodger|cook|grandfather|niece|babysitter|guest|son|daughter|tutor"
        "|handyman"
    ),
    "town": (
        "mayor|baker|butcher|policeman|postman|mechanic|councillor|tailor|priest|shopkeeper|taxi driver|barber|florist"
        "|librarian|fisherman|tourist"
    ),
    "stage": (
        "actor|singer|violinist|conductor|composer|critic|dancer|drummer|producer|poet|pianist|sculptor|photographer"
        "|novelist|publisher|collector"
    ),
    "science": (
        "chemist|physicist|botanist|professor|assistant|astronomer|geologist|mathematician|reviewer|inventor|biologist"
        "|statistician|historian|explorer|archivist|curator"
    ),
    "politics": (
        "minister|senator|president|ambassador|journalist|spokesman|king|general|governor|rebel leader|delegate|envoy"
        "|opposition leader|union leader|activist|chancellor"
    ),
    "farm": (
        "farmer|shepherd|vet|milkmaid|miller|beekeeper|forester|hunter|trader|harvester|groom|blacksmith|winegrower"
        "|ranger|surveyor|dairyman"
    ),
    "ship": (
        "sailor|helmsman|pilot|navigator|stowaway|harbour master|whaler|diver|smuggler|coastguard|deckhand|boatswain"
        "|steward|merchant|cartographer|shipbuilder"
    ),
}
ANIMALS = "fox|hare|wolf|dog|cat|crow|eagle|goose|horse|bull|goat|bear|snake|badger|owl|otter|lynx|boar|stork|monkey"
VEHICLES = (
    "lorry|tram|van|bus|tractor|motorbike|ambulance|taxi|police car|fire engine|freight train|snowplough|tanker|minibus"
    "|tugboat|barge|speedboat|trawler|yacht|cutter"
)
MACHINES = (
    "scheduler|gateway|parser|logger|indexer|broker|cache|router|balancer|crawler|compiler|proxy|dispatcher|monitor"
    "|worker|controller|collector|exporter|importer|planner"
)
EVENTS = (
    "strike|festival|flood|power cut|inspection|election|concert|march|merger|scandal|drought|fire|vote|riot|heatwave"
    "|reform|auction|audit|landslide|blackout|epidemic|parade|boycott|recession"
)
PLACES = (
    "Carrow|Lindow|Ellery|Ashford|Westbrook|Millbrae|Harrow|Stonehaven|Norwell|Tarbury|Kelso|Dunmore"
    "|Elmstead|Brackley|Ferndale|Oakridge|Selby|Wexton|Marlow|Haddon"
)
TRADES = (
    "Shipping|Mills|Foods|Motors|Energy|Textiles|Airlines|Steel|Rovers|United|Press|Insurance|Chemicals"
    "|Timber|Wanderers"
)
FIRST_NAMES = "Mara|Tobias|Ines|Pavel|Noor|Greta|Hugo|Leila|Oskar|Yuki|Diego|Freya|Anton|Sofia|Kofi|Elena"

DOES_TO_PEOPLE: dict[str, str] = {
    # One row of words that mean the same, "/" between them; classes hold what could follow from each other.
    "judging": (
        "criticise/criticize|admire|mock/ridicule|applaud|blame|reprimand/rebuke|respect|insult/offend|compliment"
        "|despise|envy|congratulate|belittle|flatter"
    ),
    "helping": (
        "help/assist|rescue/save|protect/shield|defend|comfort/console|nurse|support|encourage|cure/heal|guide|shelter"
        "|train/coach|mentor"
    ),
    "harming": (
        "attack/assault|injure/wound|push/shove|hit/strike|kick|trip|poison|rob|threaten|frighten/scare|betray|cheat"
        "|deceive/trick|kidnap/abduct|slap|punch|bully|shoot"
    ),
    "authority": (
        "hire/employ|dismiss/fire|promote|arrest/detain|suspend|appoint/name|fine|supervise|punish|pardon|expel|evict"
        "|summon|order|overrule|recruit"
    ),
    "meeting": (
        "greet/welcome|follow|invite|find|recognise|ignore|interrupt|photograph|paint|watch/observe|avoid|chase/pursue"
        "|accompany/escort|wake|overhear|embrace/hug|kiss"
    ),
    "speaking": (
        "thank|question|warn/alert|contradict|persuade/convince|interview|telephone/phone|inform/notify|answer|advise"
        "|bribe|beg|remind|consult"
    ),
    "contest": (
        "defeat|outrun|overtake|challenge|succeed|outbid|outwit|tackle|eliminate|surpass/outdo|nominate|accuse|cite"
    ),
}
DOES_TO_ANIMALS = "chase/pursue|bite|follow|frighten/scare|attack|sniff|lick|push|kick|scratch|wake|watch|outrun|catch"
DOES_TO_VEHICLES = (
    "overtake/pass|hit/strike|block/obstruct|tow/pull|follow|ram|scrape|escort|push|damage|chase/pursue|rescue"
)
DOES_TO_MACHINES = (
    "start/launch|restart|query|monitor|configure|trigger|block|update|overload|throttle|wrap|extend|notify"
    "|import|validate|load|scan|create"
)
DOES_TO_FIRMS = (
    "acquire/buy|supply|outbid|accuse|defeat|fund/finance|found|copy/imitate|rescue|undercut|hire|leave"
    "|advise|insure|license"
)
DOES_TO_EVENTS = (
    "interrupt/disrupt|cause|trigger/spark|prevent|overshadow|precede|end|prompt|follow|hasten|worsen|halt|complicate"
)

IRREGULAR = """
hit hit hit|strike struck struck|shoot shot shot|find found found|wake woke woken|beg begged begged|fire fired fired
overhear overheard overheard|outrun outran outrun|overtake overtook overtaken|outbid outbid outbid|bite bit bitten
catch caught caught|buy bought bought|undercut undercut undercut|leave left left|outdo outdid outdone|rob robbed robbed
trip tripped tripped|slap slapped slapped|hug hugged hugged|ram rammed rammed|scan scanned scanned|wrap wrapped wrapped
expel expelled expelled|kidnap kidnapped kidnapped|outwit outwitted outwitted
"""

GIVES = """
lent to: borrowed from: a bicycle, a ladder, a book, an umbrella, some money, a lamp, a drill
sold to: bought from: a boat, a painting, two tickets, an old clock, a piano, a field, a violin
taught to: learned from: chess, Italian, a dance, the song, a card trick
gave to: received from: a letter, a key, flowers, a medal, the map, a warning, a parcel
handed to: took from: the file, a torch, the keys, a cup, the contract
rented to: leased from: a flat, a garage, a stall, the barn
sent to: got from: a message, a box of apples, the bill, a photograph, the report
"""
COMPARES = (
    "taller shorter|older younger|faster slower|richer poorer|heavier lighter|stronger weaker"
    "|louder quieter|busier calmer"
    "|more careful less careful|more popular less popular|more experienced less experienced|better paid worse paid"
)
COMES_FIRST = (
    "left|arrived|spoke|finished|signed|retired|voted|woke up|went home|paid|joined the club|reached the gate"
    "|handed in the form|was examined"
)
STANDS = """
sat behind|sat in front of
stood to the left of|stood to the right of
lived above|lived below
finished ahead of|finished behind
worked for|employed
was the boss of|reported to
owed money to|was owed money by
inherited the house from|left the house to
"""
OWNED = (
    "car|house|garden|boat|bicycle|roof|bag|fence|window|phone|report|speech|song|field|coat|proposal"
    "|shop|letter|cart|desk"
)
DONE_TO_THINGS = (
    "repair/fix|damage|paint|sell|clean|search|photograph|find|hide|borrow|steal|inspect/examine|copy|destroy|admire"
)
THINGS_IRREGULAR = "sell sold sold|find found found|hide hid hidden|steal stole stolen|copy copied copied"
SAID = (
    "lost the key|broken the lamp|opened the gate|missed the meeting|hidden the money|left the door open|won the prize"
    "|forgotten the list|signed the form|found the wallet|told a lie|eaten the cake|changed the date|locked the shed"
)

PERSON_ALONE = (
    "sat on a bench|had a cold|was on holiday until Friday|arrived late|smiled and said nothing|went home early"
    "|was sitting near the window|had forgotten a coat|did not want to comment"
    "|slept badly that night|was new in the place"
    "|made some tea|read a newspaper|stayed until the evening|left through the side door|was tired after a long day"
)
THING_ALONE = (
    "was seen again an hour later|stayed where it was|made a loud noise|could be seen from the road|was not far away"
    "|had been there since the morning|was in good condition|moved slowly"
)
EVENT_ALONE = (
    "lasted two days|drew a lot of attention|had been expected for weeks"
    "|was reported on the radio|surprised most people"
    "|ended quietly|took place in the north of the country|cost a lot of money"
)
FIRM_ALONE = (
    "had been in the news all week|moved its offices to the south|had a good year|was founded by two brothers"
    "|plans to open a new hall|did not publish any figures"
)
CLAUSES = (
    "had come by train|had written a note|had worked there for years|had been ill|had just moved to the town"
    "|had brought a dog|lived nearby|had mended the roof|had asked for a break|spoke little English|wore a green hat"
    "|had won twice before"
)
TIMES = (
    "on Monday|in the morning|after the meeting|last year|before lunch|on the second day|during the break|late at night"
    "|in front of everyone|near the main gate|in the end|without any warning|for the second time|at the station"
)
OTHERWISE = (
    "It rained most of the day.|Nothing was broken.|The local paper printed a short report."
    "|There were some thirty people."
    "|The building is to be sold in autumn.|Prices had gone up again.|A new road will be built next year."
    "|The doors open at nine.|Nothing else was decided.|The lights went out for a moment.|There was coffee at noon."
    "|The next date is still open.|Most of the seats were empty.|It was the coldest week of the year."
    "|A short film was shown.|The plan has three parts.|Later that day the market closed.|The river was high."
)
