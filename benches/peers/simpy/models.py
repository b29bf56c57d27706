"""M/M/1 and the cold-cache model in SimPy, written for speed as far as SimPy's own style goes: one process for each
operation, events with callbacks for time limits, and nothing scheduled for a cache hit, whose latency is known at once.

Reads what to run as JSON from standard input and prints what was measured as JSON. `run.sh` beside this file starts it.
"""

import heapq
import json
import random
import sys
import time
from bisect import bisect
from collections import deque
from itertools import accumulate

import simpy


# ------------------------------------------------------------------------------------------------------- M/M/1


def mm1(customers, rng):
    """Mean time in the system in units of the mean service time, and nanoseconds per customer."""
    env = simpy.Environment()
    queue = simpy.Store(env)
    total = 0.0

    def source():
        for _ in range(customers):
            yield env.timeout(rng.expovariate(0.8))
            queue.put(env.now)

    def server():
        nonlocal total
        for _ in range(customers):
            arrived = yield queue.get()
            yield env.timeout(rng.expovariate(1.0))
            total += env.now - arrived

    env.process(source())
    env.process(server())
    start = time.thread_time_ns()
    env.run()
    return {"ns": (time.thread_time_ns() - start) / customers, "mean": total / customers}


# -------------------------------------------------------------------------------------------- the cold-cache model


class Read:
    """A kind of read."""

    def __init__(self, spec):
        self.keys = spec["keys"]
        self.zipf = spec["zipf"]
        self.ttl = spec["ttl"]
        self.stages, self.mean = spec["stages"], spec["mean"]
        self.cold = spec["cold"]
        self.expires = None
        if self.zipf is not None:
            self.upto = list(accumulate(k**-self.zipf for k in range(1, self.keys + 1)))

    def key(self, rng):
        if self.zipf is None:
            return int(rng.random() * self.keys)
        return bisect(self.upto, rng.random() * self.upto[-1])

    def popularity(self, key):
        if self.zipf is None:
            return 1.0 / self.keys
        return (key + 1) ** -self.zipf / self.upto[-1]

    def work(self, rng):
        return draw(rng, self.stages, self.mean)


def draw(rng, stages, mean):
    """Erlang with so many stages; none for a fixed value."""
    if stages == 0:
        return mean
    return rng.gammavariate(stages, mean / stages)


class Host:
    """A database host: queries share its cores, by virtual time."""

    def __init__(self, env, spec):
        self.env = env
        self.cores, self.contention = spec["cores"], spec["contention"]
        self.limit, self.connections = spec["connections"], 0
        self.pages, self.page_stays = [-1e9] * spec["pages"], spec["page_stays"]
        self.clock = self.as_of = 0.0
        self.running = self.serial = 0
        self.rate = 1.0
        self.ends = []
        self.plan = None

    def catch_up(self):
        self.clock += (self.env.now - self.as_of) * self.rate
        self.as_of = self.env.now

    def change(self, by):
        self.running += by
        load = self.running / self.cores
        self.rate = 1.0 if load <= 1.0 else 1.0 / load / (1.0 + self.contention * (load - 1.0))
        ends = self.ends
        while ends and ends[0][2].triggered:
            heapq.heappop(ends)
        self.plan = None
        if ends:
            # What was planned before stays in SimPy's queue and is skipped: it cannot be taken out.
            self.plan = self.env.timeout(max(0.0, (ends[0][0] - self.clock) / self.rate))
            self.plan.callbacks.append(self.end)

    def end(self, plan):
        if plan is not self.plan:
            return
        self.catch_up()
        heapq.heappop(self.ends)[2].succeed(True)
        self.change(-1)

    def start(self, work, limit):
        """An event that says whether the query ended before its limit."""
        self.catch_up()
        self.serial += 1
        ended = self.env.event()
        heapq.heappush(self.ends, (self.clock + work, self.serial, ended))
        self.change(1)

        def too_long(_):
            if not ended.triggered:
                ended.succeed(False)
                self.catch_up()
                self.change(-1)

        self.env.timeout(limit).callbacks.append(too_long)
        return ended

    def read_page(self, hashed):
        """Whether the page has to be brought into memory."""
        page = hashed % len(self.pages)
        last, self.pages[page] = self.pages[page], self.env.now
        return self.env.now - last > self.page_stays


class Pool:
    """The connections of one instance."""

    def __init__(self):
        self.idle, self.waiting = deque(), deque()
        self.open = 0


class System:
    """Everything, and what is counted."""

    def __init__(self, env, spec, rng):
        self.env, self.spec, self.rng = env, spec, rng
        self.reads = [Read(r) for r in spec["reads"]]
        self.shares = list(accumulate(r["share"] for r in spec["reads"]))
        self.clients = spec["clients"]
        self.client_shares = list(accumulate(c["share"] for c in spec["clients"]))
        self.pools = [Pool() for _ in range(spec["instances"])]
        self.hosts = [Host(env, spec["host"]) for _ in range(spec["hosts"])]
        self.turn = self.host_turn = 0
        self.down = False
        self.requests = self.failures = self.lookups = self.hits = 0
        self.warm_up()
        env.process(self.arrivals())
        env.process(self.close_idle())

    def warm_up(self):
        """A steady state: a key asked for λ times a second and kept for T is there with probability λT/(1+λT)."""
        rng, misses = self.rng, 0.0
        for read, spec in zip(self.reads, self.spec["reads"]):
            rate = self.spec["per_s"] * spec["share"]
            ttl = read.ttl or 0.0
            if read.ttl is not None:
                read.expires = [0.0] * read.keys
            for key in range(read.keys):
                wanted = rate * read.popularity(key)
                load = wanted * ttl
                if ttl and rng.random() < self.spec["warm"] * load / (1.0 + load):
                    read.expires[key] = rng.random() * ttl
                if read.cold > 1.0:
                    misses += wanted / (1.0 + load)
        for host in self.hosts:
            for page in range(len(host.pages)):
                host.pages[page] = -rng.expovariate(misses / len(self.hosts) / len(host.pages))

    def arrivals(self):
        env, rng, rate = self.env, self.rng, self.spec["per_s"]
        number = 0
        while True:
            yield env.timeout(rng.expovariate(rate))
            read = self.reads[min(bisect(self.shares, rng.random()), len(self.reads) - 1)]
            client = self.clients[min(bisect(self.client_shares, rng.random()), len(self.clients) - 1)]
            number += 1
            env.process(self.operation(read, read.key(rng), client))

    def operation(self, read, key, client):
        for attempt in range(client["attempts"]):
            if attempt > 0:
                yield self.env.timeout(client["backoff"])
            self.requests += 1
            pool = self.pools[self.turn]
            self.turn = (self.turn + 1) % len(self.pools)
            if read.ttl is not None:
                self.lookups += 1
                if not self.down and read.expires[key] > self.env.now:
                    self.hits += 1
                    draw(self.rng, *self.spec["handling"])
                    return
            if (yield from self.request(pool, read, key)):
                draw(self.rng, *self.spec["handling"])
                return
            self.failures += 1

    def request(self, pool, read, key):
        """Whether a query succeeded."""
        env, spec = self.env, self.spec
        tries = 0
        host = None
        if pool.idle:
            host = pool.idle.pop()[0]
        elif pool.open < spec["pool"]["size"]:
            pool.open += 1
        else:
            turn = env.event()
            pool.waiting.append(turn)
            waited = env.timeout(spec["pool"]["acquire"])
            waited.callbacks.append(lambda _: turn.triggered or turn.succeed((False, None)))
            got, host = yield turn
            if not got:
                return False
        while host is None:
            self.host_turn = (self.host_turn + 1) % len(self.hosts)
            candidate = self.hosts[self.host_turn]
            yield env.timeout(spec["pool"]["connect"])
            if candidate.connections < candidate.limit:
                candidate.connections += 1
                host = candidate
                break
            tries += 1
            if tries == spec["pool"]["attempts"]:
                pool.open -= 1
                self.hand_on(pool, None)
                return False
        while True:
            work = read.work(self.rng)
            if read.cold > 1.0 and host.read_page(hash((read.mean, read.keys, key))):
                work *= read.cold
            ended = yield host.start(work, spec["pool"]["query"])
            tries += 1
            if ended:
                if read.ttl is not None and not self.down:
                    read.expires[key] = env.now + read.ttl
                break
            if tries >= spec["pool"]["attempts"]:
                break
        if not self.hand_on(pool, host):
            pool.idle.append((host, env.now))
        return ended

    def hand_on(self, pool, host):
        """Gives a connection, or the place for one, to who has waited longest."""
        while pool.waiting:
            turn = pool.waiting.popleft()
            if not turn.triggered:
                if host is None:
                    pool.open += 1
                turn.succeed((True, host))
                return True
        return False

    def close_idle(self):
        while True:
            yield self.env.timeout(1.0)
            before = self.env.now - self.spec["pool"]["idle"]
            for pool in self.pools:
                while pool.idle and pool.idle[0][1] < before:
                    host, _ = pool.idle.popleft()
                    pool.open -= 1
                    host.connections -= 1

    def lose_cache(self, fault, failover):
        yield self.env.timeout(fault)
        self.down = True
        yield self.env.timeout(failover)
        self.down = False
        for read in self.reads:
            if read.ttl is not None:
                read.expires = [0.0] * read.keys

    def part(self, until):
        """Runs on and says what happened meanwhile."""
        before = (self.requests, self.failures)
        start = time.thread_time_ns()
        self.env.run(until=until)
        ns = time.thread_time_ns() - start
        requests, failures = self.requests - before[0], self.failures - before[1]
        return {"ns": ns / max(1, requests), "requests": requests, "failed": failures / max(1, requests)}


def cold_cache(spec, rng):
    env = simpy.Environment()
    system = System(env, spec, rng)
    env.process(system.lose_cache(spec["fault"], spec["failover"]))
    healthy = system.part(spec["fault"])
    system.part(spec["page"])
    return {"healthy": healthy, "storm": system.part(spec["end"])}


def main():
    task = json.load(sys.stdin)
    rng = random.Random(1)
    result = {"simpy": simpy.__version__, "python": sys.version.split()[0]}
    result["mm1"] = mm1(task["customers"], rng)
    result.update(cold_cache(task["cold_cache"], rng))
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
