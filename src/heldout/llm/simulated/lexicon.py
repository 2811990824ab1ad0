"""The words an engineer uses for each idea, as classes of words and phrases.

A class is a set of synonyms. Words stand for all their forms; ``a+b`` is a phrase. What a
*combination* of classes means is said in :mod:`.concepts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from heldout.llm.simulated.language import Sentence, stem

_WORDS: Mapping[str, str] = {
    # what an investigator does
    "look": """look search check review examine inspect query list pull consult find trace identify
        determine establish reconstruct ask consider include cover scan dig study investigate seek
        hunt request fetch retrieve explore work+out figure+out walk go reach see read get use
        analyze audit verify track answer know learn understand call browse probe comb sift
        enumerate survey collect gather discover uncover run question inquire enquire wonder
        clarify locate view pin+down lookup look-up mine research revisit retrace remember+to
        open scroll account+for spot note map""",
    "extend": """widen extend expand enlarge broaden lengthen stretch span increase grow reach start
        begin push cover set+since put open make go move enlarge beginning run backdate""",
    "restrict": """limit restrict bound confine stay within only stop constrain cap keep+to
        no+further not+beyond concentrate focus stick solely exclusively just""",
    "enough": "enough suffice sufficient adequate",
    "check": """check verify confirm validate ensure make+sure require demand prove establish test
        show need must have+to should see+whether be+sure ask+whether ask+if insist expect""",
    "reject": """reject discard dismiss rule+out exclude drop eliminate disregard clear strike
        set+aside acquit exonerate ignore cross+off throw+out""",
    # changes
    "change": """change edit modification modify commit pr prs deploy deployment rollout release
        apply update merge revision alteration alter list_changes changelog what+happen tweak
        reconfiguration config+event rotation migration event push upgrade patch get_change""",
    "blame": """blame name accuse pick choose assume conclude convict attribute point+at suspect
        call+it select settle+on incriminate fault indict declare submit single+out jump+to
        latch+onto go+for report prefer go+with guilty nominate propose""",
    "cause": """cause culprit guilty break proof evidence causation prove causal guilt root+cause
        responsible offender reason trigger to+blame""",
    "candidate": "candidate suspect change it one contender deploy edit",
    # time
    "back": """further+back back+in backward earlier older prior previous past precede ago history
        historical well+before long+before lookback look+back go+back back+to yesterday
        long+period longer+period reach+back old age long+ago retrospective backdate
        way+before before+that in+advance looking+back date+back""",
    "event": """incident alert onset symptom outage fail failure page start day alarm problem
        trouble breakage impact""",
    "window": """window lookback time+range time+span timeframe time+frame range horizon interval
        period since look+back timespan bound""",
    "sameday": """today same+day incident+day day+of hour alert+day onset+day few+hour
        minute around+the+alert same+date current+day current+date""",
    "too": "too",
    "narrowword": "narrow short small tight little",
    "near": """close near nearest closeness proximity recent latest newest last time timing moment
        coincide correlation right+before right+at onset same+time just+before simultaneous
        temporal minute shortly around adjacent closest coincidence concurrent recency""",
    "chance": """coincidence innocent suspect decoy beware bystander coincidental unrelated
        misleading mislead red+herring distraction insufficient coincidentally accident wary careful
        cautious caution sceptical skeptical suspicion hint hypothesis""",
    # values and where they come from
    "value": """value setting parameter field key limit threshold size number misconfigure
        misconfiguration config configuration knob option flag property bad+value attribute
        variable override fault knobs policy rule""",
    "asktime": """when since who how+long which+change which+commit which+pr which+edit moment
        which+event what+change what+set origin provenance author event+that change+that
        edit+that commit+that pr+that deploy+that release+that rollout+that where+it+come where+the point+in+time time+at what+introduce
        which+deploy how+it+become how+come whose source+of birth what+put what+make
        which+release which+person which+actor why+it+have change+which what+wrote what+write
        event+which""",
    "set": """set change introduce write modify alter replace become touch give put hold evolve
        come edit update originate create enter appear arrive land get configure
        last+correct merge last+good begin take+effect be+wrong switch flip turn move
        lower raise cut reduce shrink bump swap""",
    "history": """history evolution evolve timeline provenance origin get_field_history past+value
        lineage previous+value genealogy biography ancestry track+record audit+trail""",
    "trace": "trace track follow attribute walk chase go work+back tie pin",
    "mechanism": """mechanism setting error failure field symptom value failing parameter key cause
        fault message defect problem explanation breakage broken config""",
    "touch": """touch affect modify contain relate explain match link connect account nothing+to+do
        concern alter hit involve bear+on correspond cover implicate influence
        responsible+for address tie connection relevant overlap refer include mention""",
    # fleets
    "compare": """compare compare_state comparison contrast diff difference differ distinguish
        put+beside beside against side+by+side distinguishing set+apart apart versus vs different
        unlike in+common hold+against delta contrasting differential diverge""",
    "healthy": """healthy unaffected working work good fine sibling peer other+member well
        unharmed others the+rest rest without+error one+that+do+not spared twin unimpaired
        does+not ok behave healthily control+group quiet normal normally counterpart""",
    "failing": """misbehave only+some fail failing affected broken sick bad hit sick one+that+fail impaired unhealthy
        erroring ailing suffer with+error degraded wrong affect""",
    "fleet": """fleet cluster region pool replica instance member sibling zone shard node host
        part+of partial subset some peer service+instance partition tenant machine twin
        counterpart environment pod cell""",
    "why": "why explain account ask what+they+have what+it+have what+do",
    "override": "override exception special+case deviation deviate outlier",
    # long lists
    "page": """page+through next+page all+page follow+the+cursor cursor remainder remaining
        rest+of paginate pagination further+page more+rows exhausted exhaust every+page
        following+page subsequent+page keep+reading until+the+end second+page more+page
        read+on page+until page+on""",
    "list": """list result row answer search query response page output change entries hits
        truncated table""",
    "truncated": "truncated truncate incomplete cut+off shortened clipped cursor",
    "filter": """filter narrow restrict scope limit by+entity by+field cut+through pare reduce
        search+by constrain entity+filter field+filter entity_ids entity_id focus one+entity ask+for cut+down slice
        drill target""",
    "filterby": """entity field resource setting name key object component parameter item""",
    "firstpage": "first+page first+row first+20 newest+row first+screen first+batch top+row first+twenty",
    "noise": "noise noisy unrelated long dozen hundred many crowded flood busy",
    # dependencies
    "follow": """follow walk trace chase descend go keep+following continue move+on track pursue
        step inspect dig look repeat proceed traverse work+your+way deeper push+on keep+go
        drill examine hop investigate""",
    "dependency": """dependency downstream hop chain call+chain callee call graph depend path
        along+the+call next+service whichever+service upstream component service backend
        dependent""",
    "beyond": """beyond hop past downstream deeper far further end last along+the+call its+own by+itself source chain several+dep
        each first dependency+of onward next away of+its+own again mention deep until
        rather+than+where not+where whole root bottom along""",
    "victim": "victim alerted alerting alert symptom hurt complain",
    # diffs
    "diff": """diff content contents detail details old+value old+and+new before+and+after
        actually+modify what+it+do what+exactly what+each actual get_change old+value new+value patch
        contained inside body exactly+modify really+modify really+do actually+do full+change hunk""",
    "opening": """read open look call inspect view examine check study fetch verify quote get see
        review cite load consult""",
    "summary": "summary title description headline name label",
    # honest misses
    "noneword": "none no+culprit no+change without+a+culprit empty blank unknown undetermined null",
    "say": """say answer report submit state write admit leave conclude put return declare respond
        name use prefer accept tell fine set be own+up""",
    "unproven": """nothing+can+be+proven nothing+be+proven not+be+prove not+proven can+not+be not+prove can+not+establish unproven
        can+not+tell inconclusive not+establish unprovable not+be+establish not+be+determine
        not+be+identify not+known not+know""",
    "guess": "guess invent make+up fabricate speculate unsupported wrong+culprit likeliest force",
    "nofit": """no+change no+candidate nothing+fit nothing+support no+match not+every+failure
        no+diff nothing+explain none+explain no+matching without+a+change no+change+explain
        none+of+them no+suspect no+event not+show proof+be+miss not+be+identify nothing+touch
        missing+evidence proof+miss evidence+lack nothing+account lack lacking missing miss""",
    "honest": "honest honesty admit fine better prefer rather acceptable legitimate valid ok okay",
    # over-correction
    "always": "always never every+case ever without+exception all must invariably can+not every",
    "oldest": "oldest earliest older old several+day+old first+change day+old stalest",
    "recentchange": """onset recent latest today day+of newest within+hour fresh same+day last+hour
        new""",
    # whether there is trouble at all
    "trouble": """alert symptom error failure trouble problem incident outage service impact issue
        blip alarm it one fail page""",
    "falsealarm": "false+alarm false+positive spurious",
    "genuine": "real true genuine present+is be+present unhealthy really+show still+true",
    "ended": """continue persist last cease resolve+itself still recover over end clear stop pass go+on ongoing resolve exist present+still
        be+present be+there still+there by+itself any+more normal""",
    "recovered": """healthy+again fine+again recover back+to+normal heal any+more""",
    "impact": """really+affected user+be+affected impact symptom""",
    "confirm": """make+certain find+out be+sure confirm verify check validate make+sure see look ask establish rule+out
        hold+against compare doubt search hunt""",
    "doubt": "doubt question distrust",
    "claim": """claim describe say suggest name propose voice point+at offer state decide
        explanation""",
    "signal": "metric data series error+rate latency log",
    "alarm": "alert page rule alarm pager bot runbook annotation",
    "caution": """beware careful caution cautious can may could might mind sceptical skeptical
        mislead common""",
    # big changes
    "big": """lot+of great+many plenty big large huge bulk bundle bundled mass squash dozen many long forty hundred
        several however+many more+field""",
    "bulk": "change apply diff merge pr pull+request edit commit migration",
    "altered": "field setting resource line",
    "whole": """last+of+them to+the+last line+by+line whole complete full fully entire all every each rest field+by+field remainder
        end+to+end to+the+end""",
    "fullread": """read look open go+through page+through page inspect check examine fetch search
        see study scan walk+through""",
    "halt": "stop halt end",
    # the order of events
    "onset": """error+appear error+start error+occur error+rise symptom+begin problem+begin problem+start trouble+start failure+start incident+start incident+have+begin first+fail first+sign onset first+error first+failure first+symptom trouble+begin failure+begin
        error+begin error+be+flow symptom+start symptom+appear outage error+rate+first start+of+the
        middle+of incident+begin begin during+the+incident""",
    "after": """after later younger once during since afterwards between+onset in+the+middle
        whatever+come follow""",
    "response": """reaction response mitigation attempt fix consequence help repair workaround
        remedy""",
    "earlier": "before precede older prior earlier",
    # missing telemetry
    "lacking": """without+log without+telemetry no+data no+telemetry no+metric missing gap hole empty silence silent quiet absent absence lost incomplete
        log+nothing no+log data_gaps not+consult could+not not+collect unavailable not+available
        remain stop lose miss""",
    "telemetry": """log telemetry data metric line source evidence signal record data_gaps
        component""",
    "another": """what+be+left whatever+be+left another other second metric event state instead remain route gauge in+its+place
        in+their+place""",
    "fallback": """look use check consult find fall+back try go+by read cross-check see work+around
        turn+to""",
    "noproof": """not+necessarily no+evidence not+trust+the+silence not+evidence not+mean may+mean prove+nothing not+clear as+unknown not+normal
        not+a+healthy not+prove evidence+of+absence not+good nothing+happen for+good""",
    "fine": "fine healthy well good normal health",
    # what an alert suggests
    "guessed": """alert+note alert+comment hint suggestion suggest annotation guess theory explanation suspicion comment
        assumption note+in hypothesis propose""",
    "tested": """test verify confirm check question evidence proof hypothesis prove examine
        sceptical skeptical critical critically grain+of+salt look+beyond assumption doubt
        first+test""",
    "wrong": "wrong mislead misleading bystander",
    "trusted": "trust believe adopt follow accept agree decide right rely let",
    # names
    "ident": "id identifier uuid",
    "naming": "name naming",
    "namesake": """name+be+reused name+be+use name+be+share name+recur name+be+not+unique namesake look-alike lookalike same+name similar+name nearly+identical twin+name
        share+one+name its+twin look+alike name+repeat identical+name similarly+named""",
    "apart": """be+sure sure+that check verify confirm make+sure compare match distinguish tell+apart tell identify
        resolve ask+whether go+by beware rely tell+entity differentiate bother""",
    "place": "cluster region environment",
    "owned": "belong hit of+every every resource own",
    "samething": "same right affected belong which every",
    # what was taken back
    "undone": """undid unmade withdrew undo undone revert reverted rollback roll+back take+back withdraw withdrawn
        overwrite overwritten take+it+back""",
    "holding": """still+the+one be+still the+one+that+hold still+hold still+in hold+now in+force in+effect in+place still+have current+value
        present+value value+that+hold be+live still+live present+one""",
    "verify": "check see verify confirm compare make+sure look ask+whether whether examine ensure",
    "explains": "explain explanation",
    "innocence": "innocent clear harmless",
    # the other alerts of the hour
    "elsewhere": """other another further concurrent accompany simultaneous background every louder
        several some two severe elsewhere""",
    "herring": "unrelated red+herring coincidence noise distract no+connection no+dependency",
    "chasing": "chase jump distract lead+you pursue",
    "aside": "ignore set+aside drop disregard dismiss leave+alone mute leave+the+rest",
    "linking": """dependency path connect link error+lead error+chain graph chain depend
        connection""",
    "keeping": "follow keep stick stay only check match decide separate consider",
    "requiring": "require find look count treat demand",
    "staying": "stay stick keep+to",
    # nothing of ours changed
    "external": """traffic external outside provider hardware third load surge demand vendor
        growth""",
    "nochange": """nothing+change nobody+change no+change nothing+of+our without+a+change
        without+anyone every+setting+be+as""",
    "admitted": """answer say state report accept conclude admit submit prefer tell be+open mark
        write declare right possible ready right+to""",
    "lackproof": """insufficient+evidence evidence+not+suffice not+suffice missing+proof
        proof+be+miss proof+you+lack which+proof more+than+the+evidence not+provable inconclusive
        undetermined remain+unproven not+be+show not+be+determine not+be+identify proof+be+missing
        unproven not+prove not+be+prove not+be+establish not+be+kept not+kept none+can+be+prove
        not+be+keep not+keep not+be+proven can+not+be+proven not+proven""",
    "conditional": "if unless where until when without+evidence whether",
}


def _phrases() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    table: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name, words in _WORDS.items():
        for entry in words.split():
            phrase = tuple(stem(word) for word in entry.replace("-", "+").split("+"))
            table.setdefault(phrase[0], []).append((phrase, name))
    return table


_PHRASES = _phrases()

Marks = Mapping[str, tuple[int, ...]]
"""Positions of each class of words in a sentence."""


@lru_cache(maxsize=8192)
def marks(sentence: Sentence) -> Marks:
    """Where each class occurs (position of the first word of a phrase)."""
    words = tuple(token.stem for token in sentence.tokens)
    found: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        for phrase, name in _PHRASES.get(word, ()):
            if words[at : at + len(phrase)] == phrase:
                places = found.setdefault(name, [])
                if not places or places[-1] != at:
                    places.append(at)
    return {name: tuple(places) for name, places in found.items()}
