package peers;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.function.IntPredicate;

/** What a decision costs. */
final class Measure {
  /** Nanoseconds of CPU time of one decision. */
  record Cost(double median, double least) {}

  private static final double WARM_UP_NS = 6e9; // until its compiler has come to rest
  private static final double BATCH_NS = 60e6;
  private static final int BATCHES_MAX = 11;
  private static final int BATCHES_MIN = 3;
  private static final double ENOUGH_NS = 3e9; // of batches, for an engine that is slow

  private static volatile boolean answer;

  /**
   * Asks all requests in turn, batch after batch. CPU time is that of the asking thread: what the
   * collector of garbage and the compiler of the machine spend beside it is not counted.
   */
  static Cost of(int count, IntPredicate ask) {
    long begin = System.nanoTime();
    long last = 0; // what the last round took
    while (System.nanoTime() - begin < WARM_UP_NS) {
      long start = System.nanoTime();
      round(count, ask);
      last = System.nanoTime() - start;
    }
    int rounds = (int) Math.max(1, BATCH_NS / last);
    var clock = ManagementFactory.getThreadMXBean();
    var costs = new ArrayList<Double>();
    begin = System.nanoTime();
    while (costs.size() < BATCHES_MAX && (costs.size() < BATCHES_MIN || System.nanoTime() - begin < ENOUGH_NS)) {
      long before = clock.getCurrentThreadCpuTime();
      for (int i = 0; i < rounds; i++) {
        round(count, ask);
      }
      costs.add((clock.getCurrentThreadCpuTime() - before) / (double) rounds / count);
    }
    Collections.sort(costs);
    return new Cost(costs.get(costs.size() / 2), costs.get(0));
  }

  private static void round(int count, IntPredicate ask) {
    for (int i = 0; i < count; i++) {
      answer = ask.test(i);
    }
  }

  private Measure() {}
}
