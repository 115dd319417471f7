"""Closed lists of English words, by what they reveal about a task."""


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = _split_words("""
a about above accordingly across after again against all along already also although am among an
and another any anybody anyone anything are around as at away back be because been before behind
being below beneath beside between beyond bit both bottom but by can could did do does doesn't
doing don't done down during e.g each eg eight either else etc even every everybody everyone
everything except few final finally first five for former forward four from had has have having he
hence her here him his however i i.e ie if in into is isn't it it's its itself just last later
latter least less let lets lot lots many may me might mine more most much must my near neither
next nine no nobody none nor not nothing now of off on once one ones only onto or other others our
ours ourselves out over own per please previous quite rather respectively same second seven
several shall she should since six so some somebody someone something soon still such teh ten than
that that's the their theirs them themselves then there therefore these they third this those
though three through throughout thus to today together too top toward towards two under until up
upon us very via was we well were whatever whenever wherever whether whichever while will with
within without would yes yet you your yours yourself
""")
"""Function words: grammar without content."""

NEGATIONS = _split_words("cannot neither never no none nor not nothing without")
"""Words that deny what follows; "n't" at the end of a word does too."""

QUESTION_WORDS = _split_words("how what when where which who whom whose why")
"""Words that open a question."""

ASKING_WORDS = _split_words("each every how per which who whose why")
"""Words that ask for an answer, or for one result per thing."""

CRITERION_PREPOSITIONS = _split_words("against by for on")
"""Words that introduce a criterion."""

DETERMINERS = _split_words("a an any each every its of our that the their these this those your")
"""Words before a noun."""

CONDITION_WORDS = _split_words("""
after although as at because before below by during for from if in of on over since so than though
under unless until using whereas while with within without
""")
"""Words that begin a phrase of how, when, why or from what."""

PRONOUNS = _split_words("it itself such that them there they this those these")
"""Words for what another part of the text names."""

AUXILIARY_VERBS = _split_words("""
are can could did do does has have is should was were will would
""")
"""Verbs that open a question."""

PRECISE_VERBS = _split_words("""
add alphabetise alphabetize anonymise anonymize average book calculate cite classify combine
compare compute convert count cut decode delete diff enumerate explain extract fetch grade group
list map match measure merge outline paraphrase plot proofread quote rank reconcile remove rename
replace reproduce round score shorten show sort subtract sum summarise summarize tabulate tally
total transcribe translate
""")
"""Verbs whose result can be checked."""

MAKING_VERBS = _split_words("""
adjust answer build change choose collect create define describe design detect determine document
draft estimate find fix gather generate identify judge locate make name pick plan produce propose
read recommend retrieve revise rewrite run search select set state suggest update verify write
""")
"""Verbs whose result can be checked once the object is named."""

WRITING_VERBS = ("write", "draft")
"""Verbs that ask for a text in every team."""
INSPECTING_VERBS = _split_words("""
analyse analyze assess audit check evaluate examine inspect rate review scan screen search test
validate verify
""")
"""Verbs whose result can be checked once a criterion is named."""

TOPIC_NOUNS = _split_words("""
administration agreement agriculture app application architecture article authority brand business
campaign chain client clinical code codebase commercial community company competition competitive
competitor compliance computer consumer consumption contract cost course cultural curriculum
customer department digital document draft economic economy education educational email employee
energy engineering enterprise expense file finance financial firm game global government health
healthcare hr human industrial industry infrastructure investment lead legal lesson letter list
local location logistics management manufacturing market marketing media medical medicine network
news operation operational organizational paper partner policy portfolio price pricing product
production profit program property public record regulation regulatory report sale school science
scientific security service social software sport staff startup supply system table technical
technological technology text training transcript transport travel vendor
""")
"""Nouns for whole fields, which name no object."""

COMMON_NOUNS = _split_words("""
account ad advertisement alert applicant appointment asset athlete attack audience bank blog book
budget building candidate chapter citizen city claim class coach crop database defect delivery
destination diagnosis disease dish doctor drug election electricity emission equipment essay event
exam experiment factory field flight food fuel fund garden grid home hospital hotel house image
incident ingredient interview inventory itinerary law loan machine match meal menu music
newsletter nurse patient photo plant player post power recipe resume route salary sample server
shipment site song stock student supplier symptom talent tax teacher tenant test theory therapy
threat ticket tournament treatment trip vehicle video vulnerability warehouse website
""")
"""Common nouns of a field, which name an object only in part."""

GENERIC_WORDS = _split_words("""
ability able absolutely accelerate accomplish accuracy accurate achieve achievement act action
actionable active activity actual adapt additional address adequate adhere adopt advance advanced
advancement advantage advice advise agenda agility aid aim align aligned alignment allow
alternative always ambition amount analyse analyses analysis analyze angle answer apparent appeal
appealing applicable apply approach appropriate area arrange arrangement arrive aspect assess
assessment assist assistance assumption assurance assure atmosphere attempt attention attract
attractive attribute augment authoritative available background bad balanced basic basically
basics basis become begin behavior behaviour beneficial benefit best better big blocker boost
brainstorm breadth break breakdown brilliant bring broad broader bullet capability capitalize
capture care careful carry case catchy category cause certain certainly challenge change character
characterize check choice circumstance clarify clarity clear coherent cohesion cohesive
collaborate collaborative collection come comment commentary common communicate compelling
competent compile complete completely completeness complex comply component comprehend
comprehensive concept concern concise conclude conclusion concrete condition conduct consequence
consider consideration consistency consistent consolidate constraint consult content context
continue continuous contribute contribution conversation convey convincing coordinate correct
correctness cover craft creation creative credibility credible criteria criterion critical crucial
cultivate culture current cutting-edge data dataset deal decide decision deep deep-dive deepen
deeper definitive deliver deliverable demonstrate depend depth description desired detail detailed
determine develop development difference different difficult dig dimension direct direction
discover discuss discussion distil distill dive diverse documentation domain double-check drive
driver dynamic dynamics easy ecosystem edge effect effective effectiveness efficiency efficient
effort effortless elaborate element elevate emerging emphasise emphasize empower enable encompass
encourage end end-to-end enforce engage engagement engaging enhance enhancement enrich ensure
entire environment envision especially essential essentials establish evaluate evaluation evidence
examine example exceed excel excellence excellent exceptional exciting execute exercise exist
existing expand expectation experience expert expertise explanation exploration explore extensive
extent external facilitate fact factor fair fast favorable feasible feature feedback figure
finalize finding fine finish fix flawless flexible flow focus follow format foster foundation
frame framework fresh friendly fruitful fulfil fulfill full fully function fundamental
fundamentals further future gain gap general generally genuine get give given goal good grasp
great grow growth guarantee guidance guide guideline habit handle happen hard harness help helpful
high high-level high-quality highlight holistic honest hope hypotheses idea ideal ideate
illuminate immediate impact impactful implement implementation implication importance important
impressive improve improvement in-depth in-detail include inclusive incorporate increase
incredible indication indicator individual info inform information informative initiative
innovative input insight insightful inspect inspiration inspire instance instruction integrate
integrity intelligent intended intent interest interesting internal interpret introduction
intuitive investigate investigation involve issue item iterate job journey key kind know knowledge
known landscape large lasting latest lead leadership leading lean learn learning lens level
leverage liaise likely limitation literature little logical long long-term look magnitude main
maintain major majority manage manner material matter maximize maybe meaning meaningful means
measure meet method methodology metric mindful mindset minimize minor minute mission mistake
mitigate model modern moment monitor mostly motivation multiple nature navigate neat necessary
need needs new nice nicely normal notable note nuance nuanced number nurture objective observation
observe obtain obvious occur offer often operate opinion opportunity optimal optimise optimize
optimum option orchestrate order ordinary organise organization organize original outcome outcomes
outline output outstanding overall overlook oversee overview page pain paragraph parameter part
participate particular party pattern people perfect perform performance perhaps person perspective
persuasive pertinent phase phenomenon picture piece pillar pitfall place plain plan pleasant point
polished popular position positive possibility possible possibly potential powerful practical
practice precise precision preference prepare presence present presentation primary prior
prioritise prioritize priority problem procedure proceed process productive productivity
professional professionalism progress project prominent promising promote propel proper properly
proposal proposition provide purpose pursue quality question quick range rapid rationale reach
react readiness ready real realise realize reason reasonable reasoning recap receive
recommendation refine reflect reimagine relate relationship relevance relevant reliability
reliable remain remaining reporting reputable request require required requirement research
resolution resolve resource respect respond response responsibility responsible rest result review
rich right rigorous risk roadmap robust role salient satisfaction satisfactory satisfy scalability
scenario scope seamless search section see seek seem sensible sentence serve set setup shape short
short-term side significant similar simple simply situation skill slide smooth solid solution
solve sort sound source space special specific specifics spirit spot stage stakeholder standard
start state state-of-the-art statement statistic status steer stellar step story strategic
strategy streamline strength strengthen striking strive strong structure structured study stuff
stunning style subject subtask subtle success successful suggestion suit suitable summary superb
supply support surface sustain sustainable synergy synthesis synthesise synthesize systematic
tackle tactic tailor take takeaway tangible target task team technique tend text theme thing think
thorough thought time timely tip tone tool top-notch topic total touch track transform
transformation transparency transparent treat trend true trusted trustworthy truth try type
typical uncover underlying understand understanding undertake unique unlock unpack up-to-date
update usability use useful usefulness user usual usually utilise utilize valid validate valuable
value value-add variety various vast verify versatile viable view viewpoint vision vital voice
want way weakness weigh well-researched well-structured well-written whole wide win wisdom
wonderful word work worker workflow world world-class worthwhile wrap yield
""")
"""Verbs, nouns and praise that fit any task."""

GERMAN_QUESTION_WORDS = _split_words("""
darf dürfen hat haben ist kann können sind soll sollen sollte wann warum was welche welchen welcher
welches wer weshalb wie wieso wird wo wofür woran worin wurde
""")
"""German words that open a question."""

GERMAN_DETERMINERS = _split_words("""
das dem den der des die dies diese diesem diesen dieser dieses ein eine einem einen einer eines er
es ich ihr ihre ihren jede jeden jeder jedes mein meine meinem meinen meiner sein seine sie unser
unsere unserem unseren unserer wir
""")
"""German words before a noun, or for one."""

GERMAN_CONDITION_WORDS = _split_words("""
bevor damit dass falls indem nachdem obwohl sobald sodass während weil wenn
""")
"""German words that begin a phrase of how, when, why or from what."""

GERMAN_ORDERS = _split_words("""
analysiere beantworte begründe behebe bereite berechne berichte beschreibe bestimme bewerte empfiehl
entwirf ergänze erkläre erläutere ermittle erstelle fasse finde formuliere führe gib hole
identifiziere informiere kürze liste mach mache melde miss nenne ordne plane programmiere
prüfe recherchiere sag sage schätze schlage schreib schreibe sieh stelle such suche übersetze
überprüfe untersuche vergleiche verfasse werte zähle zeig zeige zieh ziehe
""")
"""German verbs that ask for a result."""

GERMAN_FUNCTION_WORDS = (
    GERMAN_QUESTION_WORDS
    | GERMAN_DETERMINERS
    | _split_words("""
ab aber alle allem allen alles als also am an auch auf aus bei beim bin bis bitte da damit danach
dann daraus darin darüber dass davon dazu denn doch dort durch etwa für gegen genug heraus hier im
immer in ins je kein keine keinen lange man mehr mich mir mit nach nachdem nicht noch nur ob oder
ohne samt sehr seit seitdem selbst sich so sowie über um und uns unter viel viele vom von vor war
waren weil weit wenn werden wichtigste wichtigsten würde zu zum zur zurück zusammen zwei zwischen
""")
)
"""German function words."""

UNSPECIFIC_WORDS = FUNCTION_WORDS | QUESTION_WORDS | GENERIC_WORDS
"""Words that say nothing about this task."""
