// Work that takes long, done in slices so that the page never waits: a generator that yields now and
// then, and returns what it found.

const SLICE = 10; // milliseconds, after which the page has its turn

export function atOnce(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

// Does the latest work that was asked for under each key, one after the other, and tells what it found.
export class Slices {
  constructor(rest, tell) {
    this.rest = rest; // milliseconds without another question
    this.tell = tell;
    this.waiting = new Map();
    this.timer = null;
  }

  ask(key, begin) {
    this.waiting.set(key, begin);
    this.running = null;
    this.later(this.rest);
  }

  later(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.work(), milliseconds);
  }

  work() {
    if (!this.running) {
      const [next] = this.waiting;
      if (!next) return;
      this.running = { key: next[0], steps: next[1]() };
    }
    const { key, steps } = this.running;
    const until = performance.now() + SLICE;
    while (performance.now() < until) {
      const { done, value } = steps.next();
      if (!done) continue;
      this.running = null;
      this.waiting.delete(key);
      this.tell(key, value);
      break;
    }
    this.later(0);
  }
}
