"""Short texts on unrelated subjects, with which `calibration` measures how a model spreads its cosines.

They are notes, questions, messages and sentences as people and agents write them, nine in ten of them in English. Each
has a subject of its own. With a change here, `VERSION` in `calibration` has to change too.
"""

from __future__ import annotations

__all__ = ["SAMPLE_TEXTS"]

_TEXTS = """
The nightly export writes Parquet files to the archive bucket and keeps thirty days of them.
How do I rotate the signing certificate of the staging gateway?
Grandma's plum cake needs a hot oven and two spoons of cinnamon.
fix: close the socket when the handshake times out
We chose Postgres over MySQL because the reporting team needs window functions.
Which train leaves for Leipzig on Sunday evening?
TypeError: cannot read properties of undefined (reading 'length')
Marta prefers short pull requests with one commit each.
The kitchen light flickers when the washing machine starts.
Run the linter before the tests; the order matters in the build image.
What did the dentist say about the wisdom tooth?
Feature flags are read once at startup and never change while the process runs.
Tomatoes grow better next to basil than next to cucumbers.
The invoice of March was paid twice and the supplier refunds one of them.
Why does the map tile server return 404 for zoom level nineteen?
He plays the cello in the city's youth orchestra.
docs: explain how to mirror the package index
The retry queue drops a job after five attempts and writes it to the dead letter table.
Our daughter starts school in August and needs a blue backpack.
Is the left turn at the town hall still closed?
segmentation fault in libpng when the palette has more than 256 entries
The user wants answers in British English without bullet points.
A heat pump works best with large radiators and low flow temperatures.
Use tabs in Makefiles and four spaces everywhere else.
When was the last time the smoke detectors were tested?
The mobile app caches avatars for a week in the documents folder.
Volcanic soil makes the wine of that island taste of salt.
git bisect found the slowdown in the change of the hash function.
Please call me Sam, not Samuel.
What is the speed limit on that mountain road in winter?
Deploys are frozen from the twentieth of December until the second of January.
The parser accepts trailing commas in arrays but not in objects.
She ran the half marathon in one hour and fifty-two minutes.
Error: ENOSPC: no space left on device, write
Colours in the chart follow the palette for colour-blind readers.
Who owns the domain name of the old shop?
A violin string breaks most often at the bridge.
The import job must not run while the inventory is being counted.
refactor: move currency rounding into the ledger package
We agreed to meet at the lake on Saturday if it does not rain.
How many workers does the thumbnail service start per core?
The library closes at six on Fridays.
Passwords are hashed with Argon2 and a salt for each user.
The cat is allergic to chicken, so buy the salmon food.
Permission denied (publickey) when cloning from the internal mirror.
The quarterly report uses the fiscal year that starts in October.
What is a good book about the history of Byzantium?
Metrics are scraped every fifteen seconds and kept for ninety days.
Bees dance to tell the others where the flowers are.
The button must stay disabled until both checkboxes are ticked.
Does the lease allow a second tenant?
Kubernetes restarts the pod because the readiness probe times out during migration.
He dislikes coriander and everything that tastes of soap.
Add an index on customer_id and created_at for the order history page.
The museum shows Dutch still lifes until the end of May.
Which of the two printers supports A3 paper?
assertion failed: left == right, left: 41, right: 42
My brother moved to Oslo and works on fishing boats.
The date picker shows the wrong week in countries where weeks start on Sunday.
Water boils at a lower temperature in the mountains.
The vendor's API allows sixty requests a minute per account.
What was the name of the hotel with the green staircase?
All images need an alternative text of at most 120 characters.
test: cover leap seconds in the timestamp parser
The piano was tuned in spring and already sounds flat.
How do we roll back a failed schema change on the replica?
Compost should be turned every two weeks in summer.
The compiler flag -Werror is off in the vendored sources.
Her flight lands at 06:40 and she takes a taxi to the office.
undefined reference to `clock_gettime` when linking with an old glibc
Customers in Switzerland are charged in francs without decimals for cents below five.
Who is the goalkeeper of the women's team?
The meeting notes are kept in the wiki under the name of the quarter.
A sourdough starter wants feeding once a day in a warm kitchen.
The websocket reconnects with a random delay so that the servers are not flooded.
Which insurance covers water damage in the basement?
ModuleNotFoundError: No module named 'yaml'
The intern writes the release notes and the lead approves them.
Glaciers in the valley have lost a third of their length since 1950.
The session cookie is valid for eight hours and renewed on each request.
What gift would suit a retired teacher who loves birds?
build: cache the compiled grammar between jobs
He takes his coffee black, in the small cup.
Sensors report the soil's moisture every hour over LoRa.
Is there a vegetarian option at the conference dinner?
The checksum is computed before compression, not after it.
The bridge was built in 1887 by an engineer from Lyon.
OutOfMemoryError in the search indexer after the nightly crawl
The customer asked for a dark theme in the driver's app.
When does the warranty of the dishwasher end?
Logs go to standard error as JSON, one object per line.
The choir rehearses on Tuesdays in the parish hall.
Two reviewers must approve changes to the payment module.
How deep should tulip bulbs be planted?
The feature branch for offline maps was abandoned in June.
A knot called the bowline does not slip under load.
warning: implicit conversion loses integer precision
The translation files are sorted by key to avoid merge conflicts.
Our neighbour's dog barks when the post arrives.
What is the difference between a lease and a loan for the company car?
The robot vacuum gets stuck under the sofa every Thursday.
Audit entries are append-only and signed with the key of the node.
Which exercises help against pain in the lower back?
The speed of the scroll animation depends on the refresh rate, which is a bug.
The tax office wants the form by the thirty-first of July.
connection reset by peer while uploading large attachments
The novel is told by a lighthouse keeper who cannot read.
Prefer composition to inheritance in the plugin interfaces.
How long can cooked rice stay in the fridge?
The beta testers complained about the font size on tablets.
Moonlight is too weak to show colours.
The scheduler picks the job with the earliest deadline first.
Where did we park the trailer?
chore: drop support for Node 16
She is learning Portuguese with songs from Brazil.
The firewall blocks outgoing mail on port 25 in all test networks.
What is the capital gains rule for shares held longer than a year?
Onions should be fried slowly until they are golden.
The tile cache is keyed by style, zoom level and language.
Why is the sky red before a storm?
The CSV export quotes every field because of the accountants' spreadsheet.
The old oak in the courtyard is protected by the city.
panic: runtime error: index out of range [3] with length 3
The team's standup is at a quarter past nine, in the small room.
Which vaccine is needed for a journey to Ghana?
Background sync is paused when the battery falls below twenty percent.
Chess openings bore him, endgames do not.
The search box ignores accents and upper case.
How much paint do we need for the fence?
perf: reuse the buffer for each frame of the decoder
The landlord repairs the boiler next week.
The simulation uses a fixed time step of ten milliseconds.
What did the committee decide about the playground?
The product manager wants fewer emails and one weekly summary.
Salt lowers the freezing point of water.
The login form reveals whether an address is registered, which must be fixed.
The orchestra's next concert has works by Sibelius.
Which environment variable sets the number of threads?
The truck needs new brakes before the inspection.
IntegrityError: duplicate key value violates unique constraint
Honey never spoils when the jar is closed.
Payments above ten thousand euros need a second signature.
How do I turn off the alarm at the garage?
The grammar checker runs in the browser and sends nothing to a server.
The children's book has no words, only pictures of a fox.
Avoid global state; pass the clock as an argument.
The ferry to the island does not run in strong wind.
What are the working hours of the support team in Manila?
The dataset has many wrong labels in the class of street signs.
He broke his collarbone while skiing in February.
Unit prices are stored in tenths of a cent.
Can the tent be pitched by one person?
rendering stops when two layers have the same depth
The shop sells spare parts for typewriters.
The contract ends automatically unless it is renewed in writing.
How does photosynthesis store energy?
The thermostat follows the weather forecast since the last update.
Each tenant has its own encryption key, which is rotated every year.
The painting hung upside down for forty years.
Where is the manual of the coffee machine?
ci: run the slow tests only on the main branch
The garden hose leaks at the second joint.
A memory leak in the audio driver crashes long recordings.
Who translated the poems into Swedish?
Team members in Japan start eight hours before those in Spain.
The recipe is for four people; halve the sugar.
The vector tiles are served from the edge and the fonts from the origin.
What colour should the bridesmaids wear?
The seller accepts returns within fourteen days.
The compass needle points to magnetic north.
Timeout waiting for the lock on the terraform state
The actor forgot his lines in the second act.
Screenshots in the handbook are made with the light theme at double resolution.
Which muscles does rowing train?
The lawn mower starts only when the choke is pulled.
Der Server wird jeden Sonntag um drei Uhr neu gestartet.
Wo liegt die Rechnung für das Fahrrad?
Bitte in der Dokumentation keine Abkürzungen verwenden.
La réunion du comité est reportée au mois prochain.
Comment changer la langue du clavier ?
El pedido se entrega en la oficina del segundo piso.
¿Qué versión del compilador usa el equipo de pruebas?
O relatório de vendas fica pronto na sexta-feira.
La chiave della cantina è sotto il vaso.
De vergadering over het budget begint om tien uur.
Kopia zapasowa bazy danych powstaje o północy.
Bu belge yeniden gözden geçirilmeli.
Сборка падает, если в пути есть пробел.
Где купить билеты на концерт?
データベースの移行は来週の月曜日に行います。
会议室的投影仪昨天坏了。
请告诉我怎样在地图上显示公交车站。
배포는 매주 수요일 오후에 합니다.
يفتح المتحف أبوابه في الساعة التاسعة صباحا.
बारिश के कारण मैच कल खेला जाएगा।
Who keeps the spare key of the allotment?
The wind turbine was stopped because of ice on its blades.
Line endings are normalised by the version control attributes.
Two of the six chairs wobble and have to be glued.
Päivitys asennetaan yöllä, kun kukaan ei työskentele.
"""

SAMPLE_TEXTS: tuple[str, ...] = tuple(_TEXTS.strip().splitlines())
