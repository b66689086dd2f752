"""What can be wrong with a scenario file: (what stands there, what is put instead, what is said).

Each row changes one thing of the sound file and is named by what is then wrong with it. Said is
`line:column: what, value, rule | hint`.
"""

HOW_TO_WRITE_A_TIME = "write a number with its unit as 90s, 2m, 3h, 2d or 1h30m, or [d.]hh:mm:ss"

HOW_TO_WRITE_A_LATENCY = f"write milliseconds as 500ms, or {HOW_TO_WRITE_A_TIME[6:]}"

A_STRANGER = "strangers: [{{who: {}, at: 1m, for: 10m, rate: {}}}]\nsettle:"

A_FAULT = "{at: 12m, for: 5m, cut: {from: site lyon, to: site paris, kind: stall}}"

SHAPE = {
    "a key misspelt": (
        "summary: ",
        "sumary: ",
        [
            "1:1: the file, summary, is missing | summary: what is asked, in a sentence",
            "3:1: the file, sumary, is an unknown key | did you mean summary?",
        ],
    ),
    "a key deep inside misspelt": (
        "returns_with",
        "return_with",
        ["15:40: faults[0], return_with, is an unknown key | did you mean returns_with?"],
    ),
    "another version": ("version: 1", "version: 2", ["1:10: version, 2, must be 1"]),
    "a version that is true": ("version: 1", "version: true", ["1:10: version, true, must be 1"]),
    "a version with a point": ("version: 1", "version: 1.0", ["1:10: version, 1.0, must be 1"]),
    "a moment that is nothing": (
        "{at: 12m,",
        "{at: ,",
        ["16:6: faults[1].at, nothing, needs a value | write one, or leave the key out"],
    ),
    "a tag twice": (
        "[nightly]",
        "[nightly, chaos, nightly]",
        ["5:24: tags[2], nightly, is named twice | keep one of them"],
    ),
    "a requirement twice": (
        "[SR-1, SM-7]",
        "[SR-1, SR-1]",
        ["4:16: proves[1], SR-1, is named twice | keep one of them"],
    ),
    "a server of a path twice": (
        "via: par-mbx1",
        "via: [par-mbx1, par-mbx1]",
        ["12:67: workload[0].via[1], par-mbx1, is named twice | keep one of them"],
    ),
    "a database of recipients twice": (
        "to: {database: DB1}",
        "to: {database: [DB1, DB1]}",
        ["12:87: workload[0].to.database[1], DB1, is named twice | keep one of them"],
    ),
    "a killed server twice": (
        "kill: par-mbx1",
        "kill: [par-mbx1, par-mbx1]",
        ["15:41: faults[0].kill[1], par-mbx1, is named twice | keep one of them"],
    ),
    "an end of a link twice": (
        "from: site lyon",
        "from: [site lyon, site lyon]",
        ["16:48: faults[1].cut.from[1], site lyon, is named twice | keep one of them"],
    ),
    "both ends of a link the same": (
        "from: site lyon, to: site paris",
        "between: [par-mbx1, par-mbx1]",
        [
            "16:29: faults[1].cut, names no link"
            " | servers open sessions to servers, the workload to mailbox servers",
            "16:50: faults[1].cut.between[1], par-mbx1, is named twice | keep one of them",
        ],
    ),
    "an image": (
        "topology: pair",
        "topology: pair\nimage: postfix",
        [
            "7:1: the file, image, is an unknown key"
            " | every server runs the lab's own node, whose image the lab builds; leave it out"
        ],
    ),
    "a chosen reply": (
        "kill: par-mbx1, returns_with: new-queue-database",
        "answer: {server: ext1}",
        [
            "15:24: faults[0], answer, is an unknown key | no fault chooses what a server answers;"
            " one refuses for now with fill_disk, and cannot be reached with cut, stop or kill"
        ],
    ),
    "a setting without its group": (
        "  TransportConfig: {",
        "  ShadowResubmitTimeSpan: 1h\n  TransportConfig: {",
        [
            "8:3: settings, ShadowResubmitTimeSpan, is an unknown key"
            " | it belongs to TransportConfig: write TransportConfig: {ShadowResubmitTimeSpan: …}"
        ],
    ),
    "a setting that nothing acts on": (
        "  TransportConfig: {",
        "  TransportService: {PoisonThreshold: 2}\n  TransportConfig: {",
        [
            "8:22: settings.TransportService, PoisonThreshold, is an unknown key"
            " | nothing acts on it: no message makes a server crash here, and a kill is no"
            " message's fault"
        ],
    ),
    "a number where text belongs": (
        "summary: Nothing is wrong with this file.",
        "summary: 7",
        ["3:10: summary, 7, must be text"],
    ),
    "nothing where a list belongs": (
        "[SR-1, SM-7]",
        "",
        ["4:1: proves, nothing, must be a list"],
    ),
    "a list where a mapping belongs": (
        "clock: {speed: 60}",
        "clock: [60]",
        ["10:8: clock, a list, must be a mapping"],
    ),
    "a time without its unit": (
        "settle: 10m",
        "settle: 10",
        [f"17:9: settle, 10, is not a timespan | {HOW_TO_WRITE_A_TIME}"],
    ),
    "a time with an unknown unit": (
        "{at: 12m,",
        "{at: 12min,",
        [f"16:10: faults[1].at, '12min', is not a timespan | {HOW_TO_WRITE_A_TIME}"],
    ),
    "a time before the start": (
        "{at: 12m,",
        "{at: -12m,",
        [f"16:10: faults[1].at, '-12m', is not a timespan | {HOW_TO_WRITE_A_TIME}"],
    ),
    "a fault that does not last": (
        "{at: 12m, for: 5m,",
        "{at: 12m, for: 0s,",
        ["16:20: faults[1].for, '0s', must be more than 0 | something that lasts needs a time"],
    ),
    "a fault without a length": (
        "{at: 12m, for: 5m,",
        "{at: 12m,",
        ["16:5: faults[1], for, is missing | for: how long it lasts"],
    ),
    "a rate without a period": (
        "rate: 10/m",
        "rate: 10",
        ["12:45: workload[0].rate, 10, is not a rate | write a number per s, m or h, such as 10/m"],
    ),
    "a size with an unknown unit": (
        "rate: 10/m,",
        "rate: 10/m, size: 4KB,",
        [
            "12:57: workload[0].size, '4KB', is not a size"
            " | write a number with B, KiB or MiB, such as 4KiB"
        ],
    ),
    "a range that runs backwards": (
        "rate: 10/m,",
        "rate: 10/m, recipients: 3..1,",
        [
            "12:63: workload[0].recipients, '3..1', is not a range"
            " | write one number, or low..high such as 1..3"
        ],
    ),
    "lost messages and a pass": (
        "lost: 0",
        "lost: 5",
        [
            "19:3: expect, a mapping, expects 5 lost messages, with which no run ends as pass"
            " | write verdict: fail; what is lost with an excuse is unprotected_loss"
        ],
    ),
    "a stream without a message": (
        "rate: 10/m",
        "rate: 1/h",
        [
            "12:5: workload[0], a mapping, sends no message: rate x for is less than one"
            " | send more often or for longer"
        ],
    ),
    "strangers of no kind": (
        "settle:",
        A_STRANGER.format("[]", "1/m"),
        ["17:19: strangers[0].who, an empty list, must have 1 or more"],
    ),
    "strangers of an unknown kind": (
        "settle:",
        A_STRANGER.format("[trickle, no-certificate]", "1/m"),
        ["17:20: strangers[0].who[0], 'trickle', is not one of its words | did you mean trickles?"],
    ),
    "strangers of one kind twice": (
        "settle:",
        A_STRANGER.format("[trickles, trickles]", "1/m"),
        [
            "17:30: strangers[0].who[1], trickles, is named twice | keep one of them",
        ],
    ),
    "strangers who never call": (
        "settle:",
        A_STRANGER.format("trickles", "1/h"),
        [
            "17:13: strangers[0], a mapping, nobody calls: rate x for is less than one"
            " | call more often or for longer"
        ],
    ),
    "an unknown way to cut": (
        "kind: stall",
        "kind: stal",
        ["16:69: faults[1].cut.kind, 'stal', is not one of its words | did you mean stall?"],
    ),
    "a cut with one end": (
        "to: site paris, ",
        "",
        [
            "16:29: faults[1].cut, a mapping, a cut takes from and to, or between with two ends"
            " | write from: X, to: Y"
        ],
    ),
    "a fault of no kind": (
        ", cut: {from: site lyon, to: site paris, kind: stall}",
        "",
        [
            "16:5: faults[1], a mapping, a fault is one of cut, slow, throttle, limit_data, slice,"
            " drip, reset_after, slow_close, kill, power_loss, corrupt, pause, stop, restart,"
            " fill_disk, disk_use, skew_clock, corrupt_mailboxes and random"
            " | give each fault an entry of its own"
        ],
    ),
    "a cut that returns with a database": (
        "{at: 12m,",
        "{returns_with: new-queue-database, at: 12m,",
        [
            "16:5: faults[1], a mapping, returns_with belongs to kill and stop | remove"
            " returns_with:"
        ],
    ),
    "a server that never returns for a while": (
        "new-queue-database}",
        "never}",
        [
            "15:5: faults[0], a mapping, a server that never returns does so once, and for good |"
            " remove for: and every:, or returns_with:"
        ],
    ),
    "a stop that loses a queue database": (
        "kill: par-mbx1,",
        "stop: par-mbx1,",
        [
            "15:5: faults[0], a mapping, new-queue-database belongs to kill | write kill:, or"
            " returns_with: new-server"
        ],
    ),
    "new servers without a limit": (
        A_FAULT,
        "{random: {during: 16m..25m, faults: [new-server], count: 1, at_most: none}}",
        [
            "16:14: faults[1].random, a mapping, new-server may take all copies of a database, and"
            " at_most is none | write at_most: one-server-at-a-time"
        ],
    ),
    "a slow link that does not say how slow": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "slow: {from: site lyon, to: site paris}",
        ["16:30: faults[1].slow, latency, is missing | latency: how late, in lab time"],
    ),
    "a latency without its unit": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "slow: {from: site lyon, to: site paris, latency: 500}",
        [f"16:73: faults[1].slow.latency, 500, is not a latency | {HOW_TO_WRITE_A_LATENCY}"],
    ),
    "more jitter than latency": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "slow: {from: site lyon, to: site paris, latency: 500ms, jitter: 1s}",
        [
            "16:30: faults[1].slow, a mapping, jitter is more than latency"
            " | make jitter the smaller one"
        ],
    ),
    **{
        f"{kind}_{direction}, a word of before": (
            "cut: {from: site lyon, to: site paris, kind: stall}",
            f"{kind}_{direction}: {{from: site lyon, to: site paris, latency: 4s}}",
            [
                f"16:24: faults[1], {kind}_{direction}, is of an older version"
                f" | write {kind}: {{…, direction: {direction}}}"
            ],
        )
        for kind, direction in (
            ("slow", "replies"),
            ("slow", "requests"),
            ("throttle", "replies"),
            ("throttle", "requests"),
            ("drip", "replies"),
        )
    },
    "a direction that there is not": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "slow: {from: site lyon, to: site paris, latency: 4s, direction: back}",
        [
            "16:88: faults[1].slow.direction, 'back', is not one of its words"
            " | known are both, replies, requests"
        ],
    ),
    "a direction of what always acts both ways": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "slow_close: {from: site lyon, to: site paris, delay: 4s, direction: replies}",
        [
            "16:81: faults[1].slow_close, direction, is an unknown key"
            " | known are between, delay, from, service, to"
        ],
    ),
    "a rate that is no rate of bytes": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "throttle: {between: [site lyon, site paris], rate: 10/m}",
        [
            "16:75: faults[1].throttle.rate, '10/m', is not a rate of bytes"
            " | write a number with B, KiB or MiB per s, such as 10KiB/s"
        ],
    ),
    "a limit that no greeting passes": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "limit_data: {from: site lyon, to: site paris, bytes: 1KiB}",
        [
            "16:36: faults[1].limit_data, a mapping, a session needs some of 8KiB to greet"
            " | limit it to more, or write cut:"
        ],
    ),
    "pieces too small to carry anything": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "slice: {from: site lyon, to: site paris, pieces: 1B, pause: 10ms}",
        [
            "16:73: faults[1].slice.pieces, '1B', is out of range | a size is 256B to 10MiB",
        ],
    ),
    "a link that drips without a rate": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "drip: {from: site lyon, to: site paris, latency: 600ms}",
        ["16:30: faults[1].drip, rate, is missing | rate: how much per second of lab time"],
    ),
    "connections reset so late that a heal takes too long": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "reset_after: {from: site lyon, to: site paris, after: 2m}",
        [
            "16:37: faults[1].reset_after, a mapping, after is more than 1m, and a heal waits as"
            " long | make it shorter, or write cut: with kind: blackhole"
        ],
    ),
    "ends that are late by nothing said": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "slow_close: {from: site lyon, to: site paris}",
        [
            "16:36: faults[1].slow_close, delay, is missing"
            " | delay: how late the end of a session is, in lab time"
        ],
    ),
    "slow links with one end": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "slow: {from: site lyon, latency: 2s}",
        [
            "16:30: faults[1].slow, a mapping, slow takes from and to, or between with two ends"
            " | write from: X, to: Y"
        ],
    ),
    "a restart that lasts": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "restart: par-mbx2",
        ["16:5: faults[1], a mapping, a restart is an instant | remove for:, or write stop:"],
    ),
    "a pause without a length": (
        "{at: 12m, for: 5m, cut: {from: site lyon, to: site paris, kind: stall}}",
        "{at: 12m, pause: par-mbx2}",
        ["16:5: faults[1], for, is missing | for: how long it lasts"],
    ),
    "a clock that is wrong by nothing said": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "skew_clock: par-mbx2",
        ["16:5: faults[1], a mapping, skew_clock takes by | write by: 5m, or by: -5m"],
    ),
    "a clock that is wrong by a word": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "skew_clock: par-mbx2, by: -soon",
        [
            "16:50: faults[1].by, '-soon', is no time to be wrong by"
            " | write 5m for a clock that is ahead, -5m for one that is behind"
        ],
    ),
    "a clock that is wrong by a year": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "skew_clock: par-mbx2, by: 365d",
        ["16:50: faults[1].by, '365d', is out of range | a clock is wrong by 30d at most"],
    ),
    "a pause that is by something": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "pause: par-mbx2, by: 5m",
        ["16:5: faults[1], a mapping, by belongs to skew_clock | remove by:"],
    ),
    "a full disk outside": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "fill_disk: ext1",
        [
            "16:35: faults[1].fill_disk, ext1, is an external server: no database, no clock of"
            " its own | name a mailbox server"
        ],
    ),
    "a random schedule that runs backwards": (
        A_FAULT,
        "{random: {during: 20m..5m, faults: [kill]}}",
        [
            "16:23: faults[1].random.during, '20m..5m', runs backwards"
            " | write the earlier moment first, such as 5m..2h"
        ],
    ),
    "a random schedule of one moment": (
        A_FAULT,
        "{random: {during: 20m, faults: [kill]}}",
        [
            "16:23: faults[1].random.during, '20m', is not two times"
            " | write from..to, such as 5m..2h"
        ],
    ),
    "a random schedule without a time": (
        A_FAULT,
        "{random: {faults: [pause]}}",
        [
            "16:14: faults[1].random, during, is missing"
            " | during: from when to when: each fault starts and ends within"
        ],
    ),
    "a random fault that is none": (
        A_FAULT,
        "{random: {during: 16m..25m, faults: [pause, cut-stal], count: 1}}",
        [
            "16:49: faults[1].random.faults[1], 'cut-stal', is not one of its words"
            " | did you mean cut-stall?"
        ],
    ),
    "a random schedule with an unknown limit": (
        A_FAULT,
        "{random: {during: 16m..25m, faults: [pause], at_most: one-server}}",
        [
            "16:59: faults[1].random.at_most, 'one-server', is not one of its words"
            " | did you mean one-server-at-a-time?"
        ],
    ),
    "a random schedule longer than its time": (
        A_FAULT,
        "{random: {during: 16m..25m, faults: [pause], for: 10m..20m}}",
        [
            "16:14: faults[1].random, a mapping, a fault of 10m..20m does not fit into 16m..25m"
            " | make during longer, or for shorter"
        ],
    ),
    "lengths that run backwards": (
        A_FAULT,
        "{random: {during: 16m..25m, faults: [pause], for: 5m..1m}}",
        [
            "16:55: faults[1].random.for, '5m..1m', runs backwards"
            " | write the shorter one first, such as 1m..20m"
        ],
    ),
    "a seed that is none": (
        A_FAULT,
        "{random: {during: 16m..25m, faults: [pause], seed: mine}}",
        ["16:56: faults[1].random.seed, 'mine', is no seed | write from-run, or a whole number"],
    ),
    "a random schedule with a start of its own": (
        A_FAULT,
        "{at: 1m, random: {during: 16m..25m, faults: [pause]}}",
        [
            "16:5: faults[1], a mapping, a random schedule has its times inside"
            " | write during: and for: inside random:"
        ],
    ),
    "a place without a server": (
        "{at: 12m,",
        "{when: {at: before-shadow-250},",
        ["16:12: faults[1].when, server, is missing | server: a mailbox server"],
    ),
    "a place that is none": (
        "{at: 12m,",
        "{when: {server: par-mbx1, at: before-shadow},",
        [
            "16:35: faults[1].when.at, 'before-shadow', is not one of its words"
            " | did you mean before-shadow-250?"
        ],
    ),
    "a place that is reached for no time": (
        "{at: 12m,",
        "{when: {server: par-mbx1, at: before-shadow-250, nth: 0},",
        ["16:59: faults[1].when.nth, 0, must be 1 or more"],
    ),
    "a fault at a time and at a place": (
        "{at: 12m,",
        "{at: 12m, when: {server: par-mbx1, at: before-shadow-250},",
        [
            "16:5: faults[1], a mapping, a fault starts at a time or at a place"
            " | remove at:, or when:"
        ],
    ),
    "a fault at a place without a length": (
        "{at: 12m, for: 5m,",
        "{when: {server: par-mbx1, at: before-shadow-250},",
        ["16:5: faults[1], for, is missing | for: how long it lasts"],
    ),
    "inbound mail with a sender": (
        "to: {database: DB1}",
        "from: {database: DB1}",
        [
            "12:5: workload[0], a mapping, inbound mail comes from outside and takes no from"
            " | remove from:"
        ],
    ),
    "a clock that stands still": ("60}", "0}", ["10:16: clock.speed, 0, must be 0.1 or more"]),
    "a tag in capitals": (
        "[nightly]",
        "[Nightly]",
        [
            "5:8: tags[0], 'Nightly', is not a name that fits here"
            " | use a to z, 0 to 9 and hyphens between them, at most 62"
        ],
    ),
    "a parameter misspelt": (
        "ShadowHeartbeatFrequency",
        "ShadowHeartbeatFrequenzy",
        [
            "8:21: settings.TransportConfig, ShadowHeartbeatFrequenzy, is an unknown key"
            " | did you mean ShadowHeartbeatFrequency?"
        ],
    ),
    "a parameter out of its range": (
        "Frequency: 1m",
        "Frequency: 2d",
        [
            "8:47: settings.TransportConfig.ShadowHeartbeatFrequency, '2d', is out of range"
            " | it takes 00:00:01 to 1.00:00:00"
        ],
    ),
    "an idle time, a retry and a rate out of their ranges": (
        "{ReceiveConnector: {",
        "{TransportService: {QueueMaxIdleTime: 2h, MessageRetryInterval: 2d,"
        " MaxConnectionRatePerMinute: 0}, ReceiveConnector: {",
        [
            "9:61: settings.servers.par-mbx1.TransportService.QueueMaxIdleTime, '2h', is out of"
            " range | it takes 00:00:05 to 01:00:00",
            "9:87: settings.servers.par-mbx1.TransportService.MessageRetryInterval, '2d', is out of"
            " range | it takes 00:00:01 to 1.00:00:00",
            "9:119: settings.servers.par-mbx1.TransportService.MaxConnectionRatePerMinute, 0, is"
            " out of range | it takes 1 to 2147483647",
        ],
    ),
}

NOT_BUILT = {
    "a setting of Exchange 2010 of the organisation": (
        "{ShadowHeartbeatFrequency",
        "{ShadowHeartbeatRetryCount: 3, ShadowHeartbeatFrequency",
        "8:21: settings.TransportConfig, ShadowHeartbeatRetryCount, is not built yet"
        " | of Exchange 2010; ShadowResubmitTimeSpan replaces it, a time instead of a count",
    ),
    "a setting of Exchange 2010 of a server": (
        "{ReceiveConnector: {",
        "{ReceiveConnector: {MaxAcknowledgementDelay: 30s, ",
        "9:43: settings.servers.par-mbx1.ReceiveConnector, MaxAcknowledgementDelay, is not built"
        " yet | of Exchange 2010; nothing replaces it",
    ),
    "parameters of Exchange 2010": (
        "{ShadowHeartbeatFrequency",
        "{ShadowHeartbeatRetryCount: 3, ShadowHeartbeatFrequency",
        "8:21: settings.TransportConfig, ShadowHeartbeatRetryCount, is not built yet"
        " | of Exchange 2010; ShadowResubmitTimeSpan replaces it",
    ),
}

NAMES = {
    "a place of a server that is not there": (
        "{at: 12m,",
        "{when: {server: par-mbx3, at: before-shadow-250},",
        "16:21: faults[1].when.server, par-mbx3, is no mailbox server of the topology"
        " | did you mean par-mbx2?",
    ),
    "a place of a server outside": (
        "{at: 12m,",
        "{when: {server: ext1, at: before-shadow-250},",
        "16:21: faults[1].when.server, ext1, is no mailbox server of the topology"
        " | known are lyo-mbx1, par-mbx1, par-mbx2",
    ),
    "a server that is not there": (
        "kill: par-mbx1",
        "kill: par-mbx3",
        "15:30: faults[0].kill, par-mbx3, is no server of the topology | did you mean par-mbx2?",
    ),
    "a stopped server that is not there": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "stop: par-mbx3",
        "16:30: faults[1].stop, par-mbx3, is no server of the topology | did you mean par-mbx2?",
    ),
    "a throttled end that is not there": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "throttle: {between: [workload, par-mbx4], rate: 10KiB/s}",
        "16:55: faults[1].throttle.between[1], par-mbx4, is no server of the topology"
        " | did you mean par-mbx2?",
    ),
    "a site that is not there": (
        "site lyon",
        "site lion",
        "16:36: faults[1].cut.from, site lion, is no site of the topology"
        " | did you mean site lyon?",
    ),
    "a site named like a server": (
        "from: site lyon",
        "from: lyon",
        "16:36: faults[1].cut.from, lyon, is no server of the topology | did you mean site lyon?",
    ),
    "a database that is not there": (
        "to: {database: DB1}",
        "to: {database: DB2}",
        "12:81: workload[0].to.database, DB2, is no database of the topology | did you mean DB1?",
    ),
    "an entrance that is no mailbox server": (
        "via: par-mbx1",
        "via: ext1",
        "12:56: workload[0].via, ext1, is no mailbox server of the topology"
        " | known are lyo-mbx1, par-mbx1, par-mbx2",
    ),
    "strangers who call nobody": (
        "settle:",
        A_STRANGER.format("trickles, to: [par-mbx1, par-mbx5]", "1/m"),
        "17:44: strangers[0].to[1], par-mbx5, is no mailbox server of the topology"
        " | did you mean par-mbx2?",
    ),
    "settings of a server that is not there": (
        "servers: {par-mbx1",
        "servers: {par-mbx9",
        "9:13: settings.servers, par-mbx9, is no mailbox server of the topology"
        " | did you mean par-mbx2?",
    ),
    "a expected promotion of nobody": (
        "{of: par-mbx1",
        "{of: par-mbx4",
        "20:21: expect.promotions[0].of, par-mbx4, is no mailbox server of the topology"
        " | did you mean par-mbx2?",
    ),
    "a requirement that does not exist": (
        "[SR-1, SM-7]",
        "[SR-1, SM-77]",
        "4:16: proves[1], SM-77, is no requirement | did you mean SM-7?",
    ),
    "a requirement named twice": (
        "[SR-1, SM-7]",
        "[SR-1, SR-1]",
        "4:16: proves[1], SR-1, is named twice | keep one of them",
    ),
    "a topology that does not exist": (
        "topology: pair",
        "topology: pear",
        "6:11: topology, pear, is no topology | did you mean pair?",
    ),
    "a name that is not the file's": (
        "scenario: sound",
        "scenario: other",
        "2:11: scenario, other, is not the file's stem, sound"
        " | write scenario: sound, or rename the file",
    ),
    "more recipients than there are": (
        "rate: 10/m,",
        "rate: 10/m, recipients: 1..5,",
        "12:63: workload[0].recipients, up to 5, is more than the 4 that `to` stands for"
        " | widen to, or ask for fewer",
    ),
    "inbound mail to the outside": (
        "to: {database: DB1}",
        "to: {domain: partner.example}",
        "12:79: workload[0].to.domain, inbound mail goes to mailboxes"
        " | use mail: relay, or mail: outbound for what comes from a mailbox",
    ),
    "mail from a distribution group": (
        "{mail: inbound, ",
        "{mail: internal, from: {group: all}, ",
        "12:29: workload[0].from, group, is an unknown key | a distribution group has no Outbox, "
        "so nobody sends from it; name databases or mailboxes",
    ),
    "internal mail by a server": (
        "mail: inbound",
        "mail: internal",
        "12:5: workload[0], a mapping, internal mail is submitted where its sender's mailbox is, "
        "and takes no via | remove via:, or choose the senders by from:",
    ),
    "outbound mail from nobody": (
        "from: {database: DB1}",
        "from: {}",
        "13:57: workload[1].from, is nobody's mailbox"
        " | name a database that has mailboxes, or leave it out and have mailboxes",
    ),
}

CONTRADICTIONS = {
    "more sessions to a server than in all": (
        "{ReceiveConnector: {",
        "{TransportService: {MaxOutboundConnections: 3}, ReceiveConnector: {",
        "9:67: settings.servers.par-mbx1.TransportService.MaxOutboundConnections,"
        " MaxPerDomainOutboundConnections 20 is more than MaxOutboundConnections 3"
        " | MaxPerDomainOutboundConnections: set it to 3 at most",
    ),
    "a preference without its attempts": (
        "{ShadowHeartbeatFrequency: 1m}",
        "{ShadowMessagePreferenceSetting: LocalOnly}",
        "8:53: settings.TransportConfig.ShadowMessagePreferenceSetting,"
        " ShadowMessagePreferenceSetting LocalOnly contradicts MaxRetriesForRemoteSiteShadow 4"
        " | MaxRetriesForRemoteSiteShadow: set it to 0 as well",
    ),
    "a session shorter than its silence": (
        "ConnectionTimeout: 10m",
        "ConnectionTimeout: 5m",
        "9:62: settings.servers.par-mbx1.ReceiveConnector.ConnectionTimeout,"
        " ConnectionInactivityTimeout 00:05:00 is not less than ConnectionTimeout 00:05:00"
        " | a silent session must end before a session that has run too long",
    ),
}

TIMELINE = {
    "a disk that is filled while its server is away": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "fill_disk: par-mbx1",
        "16:5: faults[1], with faults[0], cannot both hold: par-mbx1 is killed and cannot be told"
        " of the start | start it at 00:15:00 or later",
    ),
    "a disk that is full already": (
        "  - {at: 12m, for: 5m, cut: {from: site lyon, to: site paris, kind: stall}}",
        "  - {at: 17m, for: 5m, fill_disk: lyo-mbx1}\n  - {at: 19m, for: 1m, fill_disk: lyo-mbx1}",
        "17:5: faults[2], with faults[1], cannot both hold: the disk of lyo-mbx1 is full already"
        " | start it at 00:22:00 or later",
    ),
    "a fault past the end of the run": (
        "{at: 12m,",
        "{at: 31m,",
        "16:10: faults[1].at, 00:31:00, lies past the end of the run at 00:31:00"
        " | start the fault earlier, or send mail for longer",
    ),
    "a place that is waited for when all mail is sent": (
        "{at: 12m,",
        "{when: {server: lyo-mbx1, at: before-shadow-250, after: 21m},",
        "16:61: faults[1].when.after, 00:21:00, lies past the end of the workload at 00:21:00"
        " | a place is waited for while mail is sent: write an earlier moment",
    ),
    "a link that may be cut twice at once, at a place": (
        "kill: par-mbx1, returns_with: new-queue-database}\n  - {at: 12m,",
        "cut: {from: lyo-mbx1, to: par-mbx1, kind: refuse}}\n"
        "  - {when: {server: lyo-mbx1, at: before-shadow-250, after: 12m},",
        "16:5: faults[1], with faults[0], cannot both hold: the link from lyo-mbx1 to par-mbx1 is"
        " cut already | let it wait from 00:15:00 on, with after:",
    ),
    "a server that may be away at a place for as long as mail is sent": (
        "{at: 10m, for: 5m, kill: par-mbx1, returns_with: new-queue-database}",
        "{when: {server: par-mbx1, at: before-shadow-250}, for: 5m, kill: lyo-mbx1}\n"
        "  - {at: 26m, for: 1m, pause: lyo-mbx1}",
        "16:5: faults[1], with faults[0], cannot both hold: lyo-mbx1 is killed already and not"
        " back | start it at 00:26:00 or later",
    ),
    "a random schedule beside a place": (
        A_FAULT,
        "{random: {during: 16m..25m, faults: [pause], count: 1}}\n"
        "  - {when: {server: lyo-mbx1, at: before-shadow-250, after: 2m},"
        " for: 1m, pause: lyo-mbx1}",
        "16:14: faults[1].random, with faults[2], shares its time, 16m..25m, and is"
        " one-server-at-a-time | let one end before the other starts, or write at_most: none",
    ),
    "a link cut twice at once": (
        "kill: par-mbx1, returns_with: new-queue-database",
        "cut: {from: lyo-mbx1, to: par-mbx1, kind: refuse}",
        "16:5: faults[1], with faults[0], cannot both hold:"
        " the link from lyo-mbx1 to par-mbx1 is cut already | start it at 00:15:00 or later",
    ),
    "a killed server killed again": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "kill: par-mbx1",
        "16:5: faults[1], with faults[0], cannot both hold: par-mbx1 is killed already and not"
        " back | start it at 00:15:00 or later",
    ),
    "a link slowed while it is cut": (
        "kill: par-mbx1, returns_with: new-queue-database",
        "slow: {between: [lyo-mbx1, par-mbx1], latency: 1s}",
        "16:5: faults[1], with faults[0], cannot both hold:"
        " the link from lyo-mbx1 to par-mbx1 is slowed already | start it at 00:15:00 or later",
    ),
    "a server that is gone already": (
        "for: 5m, kill: par-mbx1, returns_with: new-queue-database}\n  - {at: 12m, for: 5m, cut:"
        " {from: site lyon, to: site paris, kind: stall}}",
        "kill: par-mbx1, returns_with: never}\n  - {at: 12m, for: 5m, pause: par-mbx1}",
        "16:5: faults[1], with faults[0], cannot both hold: par-mbx1 is killed already and not"
        " back | name another server: this one never returns",
    ),
    "the last copy of a database": (
        "for: 5m, kill: par-mbx1, returns_with: new-queue-database",
        "kill: par-mbx2, returns_with: never",
        "15:21: faults[0].kill, par-mbx2, leaves no copy of DB1, whose mailboxes would be gone |"
        " give it a copy on another server, or write returns_with: new-queue-database",
    ),
    "the last copy of a database on a new server": (
        "kill: par-mbx1, returns_with: new-queue-database",
        "stop: par-mbx2, returns_with: new-server",
        "15:30: faults[0].stop, par-mbx2, leaves no copy of DB1, whose mailboxes would be gone |"
        " give it a copy on another server, or write returns_with: new-queue-database",
    ),
    "new servers where databases have one copy": (
        A_FAULT,
        "{random: {during: 16m..25m, faults: [new-server], count: 0..1}}",
        "16:42: faults[1].random.faults[0], new-server, leaves no copy of DB1, whose mailboxes"
        " would be gone | give every database a second copy",
    ),
    "a killed server that is to be paused": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "pause: par-mbx1",
        "16:5: faults[1], with faults[0], cannot both hold: par-mbx1 is killed already and not"
        " back | start it at 00:15:00 or later",
    ),
    "a slow link that is none": (
        "cut: {from: site lyon, to: site paris, kind: stall}",
        "slow: {from: ext1, to: site paris, latency: 1s}",
        "16:30: faults[1].slow, names no link"
        " | servers open sessions to servers, the workload to mailbox servers",
    ),
    "a random schedule past the end of the run": (
        A_FAULT,
        "{random: {during: 16m..31m, faults: [pause], count: 1}}",
        "16:23: faults[1].random.during, 00:31:00, lies past the end of the run at 00:31:00"
        " | start the fault earlier, or send mail for longer",
    ),
    "a random schedule beside another fault": (
        A_FAULT,
        "{random: {during: 14m..25m, faults: [pause], count: 1}}",
        "16:14: faults[1].random, with faults[0], shares its time, 14m..25m, and is"
        " one-server-at-a-time | let one end before the other starts, or write at_most: none",
    ),
    "more random faults than fit": (
        A_FAULT,
        "{random: {during: 16m..25m, faults: [pause], count: 4..6}}",
        "16:57: faults[1].random.count, 4..6, does not fit: 4 faults of 00:01:00 each and 00:02:00"
        " to return need 00:12:00, during lasts 00:09:00 | ask for fewer, or make during longer",
    ),
    "random kills without time to recover": (
        A_FAULT,
        "{random: {during: 16m..25m, faults: [kill], count: 1}}",
        "16:56: faults[1].random.count, 1, does not fit: 1 fault of 00:01:00 each, 00:28:00"
        " (heartbeat 00:01:00, session that hangs 00:10:00, retry 00:15:00, return 00:02:00) to"
        " recover and 00:02:00 to return need 00:31:00, during lasts 00:09:00"
        " | ask for fewer, or make during longer",
    ),
    "a cut of no link": (
        "from: site lyon",
        "from: ext1",
        "16:29: faults[1].cut, names no link"
        " | servers open sessions to servers, the workload to mailbox servers",
    ),
}

TOPOLOGIES = {
    "a server in no site": (
        "lyo-mbx1: {role: mailbox, site: lyon",
        "lyo-mbx1: {role: mailbox, site: lion",
        "8:35: servers.lyo-mbx1.site, lion, is no site of the topology | did you mean lyon?",
    ),
    "a mailbox server outside": (
        "lyo-mbx1: {role: mailbox, site: lyon",
        "lyo-mbx1: {role: mailbox, site: internet",
        "8:35: servers.lyo-mbx1.site, internet, lies outside, where no mailbox server stands"
        " | choose another site",
    ),
    "a DAG that is not there": (
        "lyo-mbx1: {role: mailbox, site: lyon, dag: DAG1",
        "lyo-mbx1: {role: mailbox, site: lyon, dag: DAG2",
        "8:46: servers.lyo-mbx1.dag, DAG2, is no DAG of the topology | did you mean DAG1?",
    ),
    "Active Manager as a server": (
        "lyo-mbx1: {role: mailbox",
        "lyo-mbx1: {role: active_manager",
        "8:20: servers.lyo-mbx1.role, 'active_manager', is not one of its words | Active Manager is"
        " its DAG's: leave the server out, and write"
        " dags: {DAG1: {active_manager: {name: am1, site: lyon}}}",
    ),
    "a server's image": (
        "lyo-mbx1: {role: mailbox",
        "lyo-mbx1: {image: postfix, role: mailbox",
        "8:14: servers.lyo-mbx1, image, is an unknown key"
        " | every server runs the lab's own node, whose image the lab builds; leave it out",
    ),
    "a version of a topology that is true": (
        "version: 1",
        "version: true",
        "1:10: version, true, must be 1",
    ),
    "a site twice in a link": (
        "between: [paris, lyon]",
        "between: [paris, paris]",
        "4:32: site_links[0].between[1], paris, is named twice | keep one of them",
    ),
    "public folders in no database": (
        "mailboxes: {DB1: 4}",
        "mailboxes: {DB1: 4}\npublic_folders: {DB2: 1}",
        "14:18: public_folders, DB2, is no database of the topology | did you mean DB1?",
    ),
    "more mailboxes than there may be, with public folders": (
        "mailboxes: {DB1: 4}",
        "mailboxes: {DB1: 4}\npublic_folders: {DB1: 10000}",
        "14:23: public_folders.DB1, 10000, must be at most 9999",
    ),
    "a hub site outside": (
        "internet: {outside: true}",
        "internet: {outside: true, hub: true}",
        "3:40: sites.internet, a mapping, a site outside is no hub site | remove hub:",
    ),
    "a hub site without a server": (
        "lyon: {}",
        "lyon: {}, metz: {hub: true}",
        "3:42: sites.metz.hub, metz, is a hub site and has no mailbox server"
        " | add a server, or remove hub:",
    ),
    "links that leave sites apart": (
        "sites: {paris: {}, lyon: {}, internet: {outside: true}}\nsite_links: [",
        "sites: {paris: {}, lyon: {}, metz: {}, nice: {}, internet: {outside: true}}\n"
        "site_links: [{between: [metz, nice]}, ",
        "4:13: site_links, join metz and nice, and lyon and paris, which no link joins to them"
        " | add a link between the two",
    ),
    "a connector to a server that is not outside": (
        "servers:",
        "send_connectors: {out: {to: par-mbx1, source: [par-mbx2]}}\nservers:",
        "5:29: send_connectors.out.to, par-mbx1, is no external server of the topology"
        " | known are ext1",
    ),
    "a connector with a source outside": (
        "servers:",
        "send_connectors: {out: {to: ext1, source: [par-mbx2, ext1]}}\nservers:",
        "5:54: send_connectors.out.source[1], ext1, is no mailbox server of the topology"
        " | known are lyo-mbx1, par-mbx1, par-mbx2",
    ),
    "a connector with a source twice": (
        "servers:",
        "send_connectors: {out: {to: ext1, source: [par-mbx2, par-mbx2]}}\nservers:",
        "5:54: send_connectors.out.source[1], par-mbx2, is named twice | keep one of them",
    ),
    "a link that costs too much": (
        "cost: 10",
        "cost: 10, ExchangeCost: 100000",
        "4:63: site_links[0].ExchangeCost, 100000, must be at most 99999",
    ),
    "a role that is not built": (
        "lyo-mbx1: {role: mailbox",
        "lyo-mbx1: {role: hub2010",
        "8:20: servers.lyo-mbx1.role, 'hub2010', is not built yet"
        " | write 'mailbox', 'frontend' or 'external'",
    ),
    "a front end in a DAG": (
        "lyo-mbx1: {role: mailbox",
        "lyo-mbx1: {role: frontend",
        "8:13: servers.lyo-mbx1, a mapping, a front end is in no DAG | remove dag:",
    ),
    "a front end before nobody": (
        "lyo-mbx1: {role: mailbox, site: lyon, dag: DAG1}",
        "lyo-mbx1: {role: frontend, site: lyon}",
        "8:36: servers.lyo-mbx1.site, lyon, has no mailbox server that a front end there could pass"
        " sessions on to | add one: role: mailbox, or choose another site",
    ),
    "a database with two copies": (
        "[par-mbx2]",
        "[par-mbx2, lyo-mbx1]",
        "12:17: databases.DB1.copies, several copies, and DAG1 has no Active Manager"
        " | write DAG1: {active_manager: {name: am1, site: paris}}",
    ),
    "a database with two copies on one server": (
        "[par-mbx2]",
        "[par-mbx2, par-mbx2]",
        "12:28: databases.DB1.copies[1], par-mbx2, has a copy already | name another server",
    ),
    "a journal mailbox that is none": (
        "[par-mbx2]",
        "[par-mbx2], journal: group1@shadowlab.example",
        "12:38: databases.DB1.journal, group1@shadowlab.example, is no mailbox of the topology"
        " | write the address of one, as db2-user01@shadowlab.example",
    ),
    "a lagged copy that is active first": (
        "[par-mbx2]",
        "[{server: par-mbx2, ReplayLagTime: 1d}]",
        "12:52: databases.DB1.copies[0].ReplayLagTime, 1.00:00:00, of the copy that is active"
        " first, and an active copy does not lag | name another copy first",
    ),
    "a copy that lags too far": (
        "[par-mbx2]",
        "[par-mbx2, {server: par-mbx1, ReplayLagTime: 15d}]",
        "12:62: databases.DB1.copies[1].ReplayLagTime, 15.00:00:00, is more than 14.00:00:00"
        " | write a shorter one",
    ),
    "a database on an external server": (
        "[par-mbx2]",
        "[ext1]",
        "12:18: databases.DB1.copies[0], ext1, is an external server and holds no database"
        " | name a mailbox server",
    ),
    "mailboxes of no database": (
        "{DB1: 4}",
        "{DB1: 4, DB2: 4}",
        "13:21: mailboxes, DB2, is no database of the topology | did you mean DB1?",
    ),
    "an Active Manager outside": (
        "{DAG1: {}}",
        "{DAG1: {active_manager: {name: am1, site: internet}}}",
        "10:49: dags.DAG1.active_manager.site, internet, lies outside, where no Active Manager"
        " stands | choose another site",
    ),
    "an Active Manager that is a server": (
        "{DAG1: {}}",
        "{DAG1: {active_manager: {name: par-mbx1, site: paris}}}",
        "10:38: dags.DAG1.active_manager.name, par-mbx1, is a server already | rename it",
    ),
    "one Active Manager of two DAGs": (
        "dags: {DAG1: {}}",
        "dags: {DAG1: {active_manager: {name: am1, site: paris}},"
        " DAG2: {active_manager: {name: am1, site: lyon}}}",
        "10:88: dags.DAG2.active_manager.name, am1, is the Active Manager of DAG1 already"
        " | each DAG has one of its own",
    ),
    "an external server without a domain": (
        ", domain: partner.example",
        "",
        "9:9: servers.ext1, a mapping, an external server needs a domain | add domain: to it",
    ),
    **{
        f"a server that is called {word}": (
            "lyo-mbx1: {",
            f"{word}: {{",
            f"8:3: servers, {word}, is a word of the lab and no name for a server"
            " | choose another name",
        )
        for word in ("ground", "all", "localhost")
    },
    "a server with a reserved name": (
        "lyo-mbx1: {",
        "workload: {",
        "8:3: servers, workload, is a word of the lab and no name for a server"
        " | choose another name",
    ),
}
