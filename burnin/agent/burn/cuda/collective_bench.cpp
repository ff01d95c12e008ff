#include "burnin/agent/burn/cuda/collective_bench.h"

#include <algorithm>
#include <random>

#include "burnin/agent/burn/cuda/cuda_check.h"
#include "burnin/agent/burn/links/numa.h"
#include "burnin/agent/burn/links/surroundings.h"
#include "burnin/agent/burn/self_test.h"
#include "burnin/agent/burn/workers.h"

namespace cupel::burn {
std::string size_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + " " + std::string{kUnits[unit]};
}

std::vector<Operation> operations_of(const Options& options) {
  std::vector<Operation> operations;
  for (const auto& word : options.words("--ops"))
    if (const auto operation = operation_of(word)) operations.push_back(*operation);
  return operations;
}

Outcome<std::uint64_t> free_memory(const Node& node) {
  auto least = std::uint64_t{1} << 50;
  for (const auto& device : node.devices) {
    std::size_t free = 0;
    std::size_t all = 0;
    TRY(cuda(cudaSetDevice(device.ordinal), "choosing a GPU"));
    TRY(cuda(cudaMemGetInfo(&free, &all), "asking for free memory"));
    least = std::min<std::uint64_t>(least, free);
  }
  return least;
}

CollectiveBench::CollectiveBench(Given given)
    : given_{std::move(given)},
      figures_{given_.report},
      barrier_{static_cast<std::size_t>(given_.all.count())},
      took_(static_cast<std::size_t>(given_.all.count())),
      was_right_(static_cast<std::size_t>(given_.all.count())),
      is_survey_{given_.options.flag("--survey")} {}

bool CollectiveBench::run() {
  std::vector<Worker> workers;
  for (int rank = 0; rank < ranks(); ++rank)
    workers.push_back({part(rank), [this, rank] { return work(rank); }});
  return run_workers(std::move(workers), given_.report, given_.stop);
}

bool CollectiveBench::goes_on(bool must) const {
  return must ? !given_.stop.by_signal() && !given_.stop.given_up() : !given_.stop.over();
}

Turn CollectiveBench::turn_of(const Row& row, std::uint64_t number) const {
  return {.shape = row.shape,
          .in_place = row.in_place,
          .root = static_cast<int>(number % static_cast<std::uint64_t>(ranks())),
          .seed = transfer_seed(given_.options.seed(), number, row.in_place ? 1 : 0)};
}

std::string CollectiveBench::words_of(const Turn& turn) const {
  return std::string{name_of(turn.shape.operation)} + " of " + size_text(turn.shape.bytes) +
         (turn.in_place ? " in place" : "") + " over " + std::to_string(ranks()) + " ranks, nvls " +
         std::string{given_.route.nvls_word()} + ", path " + std::string{given_.route.path_word()};
}

Outcome<> CollectiveBench::work(int rank) {
  const agent::CancelOnExit cancels{barrier_};
  WatchdogScope scope{given_.watchdog, part(rank)};
  scope.doing("allocating the buffers of a collective");
  stay_near(given_.node.devices[rank].gpu.pci);
  TRY(cuda(cudaSetDevice(given_.node.devices[rank].ordinal), "choosing the GPU"));
  TRY(auto own, Rank::open(given_.all, rank, given_.most_bytes));
  const StepPosition position{scope, [&own] { return own.passed(); }};
  Member member{rank, own, scope};
  auto outcome = work_as(member);
  // Before its memory is given back: that would wait for the GPU, and the GPU for the other ranks.
  if (!outcome) given_.all.abort(rank);
  return outcome;
}

Outcome<> CollectiveBench::work_as(Member& member) {
  TRY(const bool open, open_channels(member));
  if (!open || is_survey_) return done();
  if (given_.options.self_tests() > 0) return self_test(member);
  return measure_all(member);
}

Outcome<std::optional<double>> CollectiveBench::together(Member& member, const Turn& turn,
                                                         int times) {
  member.scope.idle();
  if (!barrier_.arrive_and_wait([this] { return goes_on(true); })) return std::optional<double>{};
  member.scope.doing(words_of(turn));
  TRY(member.own.queue(turn, times));
  TRY(member.own.wait([this] { return barrier_.is_cancelled(); }));
  TRY(took_[static_cast<std::size_t>(member.rank)], member.own.microseconds(times));
  member.scope.idle();
  if (!barrier_.arrive_and_wait()) return std::optional<double>{};
  member.scope.doing(words_of(turn));
  return std::optional{*std::ranges::max_element(took_)};
}

Outcome<bool> CollectiveBench::open_channels(Member& member) {
  for (const auto& row : given_.rows) {
    if (!row.must) continue;
    const auto turn = turn_of(row, 0);
    TRY(member.own.prepare(turn));
    TRY(const auto took, together(member, turn, 1));
    if (!took) return false;
  }
  if (member.rank == 0) {
    TRY(is_route_taken_, tell_taken());
  }
  member.scope.idle();
  return barrier_.arrive_and_wait([this] { return is_route_taken_; });
}

/// False: it is not, and nobody insists.
Outcome<bool> CollectiveBench::tell_taken() {
  const auto taken = read_log(given_.log);
  const auto& route = given_.route;
  agent::JsonLine line{"library"};
  line.add("nvls", route.nvls_word()).add("path", route.path_word());
  line.add("multicast",
           taken.nvls_reported ? (taken.nvls ? "available" : "not available") : "not told");
  line.add("network", taken.network).raw("channels", json_of(taken.channels));
  if (is_survey_) line.raw("chosen", json_of(taken.choices));
  const auto objection = objection_to(taken, route);
  if (!objection.empty()) line.add("objection", objection);
  given_.report.say(line);
  if (objection.empty()) return true;
  if (given_.options.flag("--if-available")) return false;
  return Failure{.code = "refused",
                 .message = "collectives with nvls " + std::string{route.nvls_word()} + ", path " +
                            std::string{route.path_word()} + ": " + objection};
}

Outcome<> CollectiveBench::measure_all(Member& member) {
  const auto again = [this] { return goes_on(false); };
  std::uint64_t number = 0;
  for (std::uint64_t round = 0;; ++round) {
    for (const auto& row : given_.rows) {
      if (round > 0 && !row.must) continue;  // what a verdict rests on is measured again
      member.scope.idle();
      const bool must = row.must && round == 0;
      if (!barrier_.arrive_and_wait([this, must] { return goes_on(must); })) return done();
      TRY(const bool measured, measure(member, row, ++number));
      if (!measured) return done();
    }
    const int rounds = given_.options.rounds();
    if (rounds != 0 && round + 1 >= static_cast<std::uint64_t>(rounds)) return done();
    member.scope.idle();
    if (!barrier_.arrive_and_wait(again)) return done();
  }
}

Outcome<bool> CollectiveBench::measure(Member& member, const Row& row, std::uint64_t number) {
  const auto turn = turn_of(row, number);
  Samples samples;
  TRY(const bool timed, time(member, turn, samples));
  if (!timed) return false;
  TRY(const bool verified, verify(member, turn));
  if (verified && member.rank == 0) tell(turn, samples);
  return verified;
}

Outcome<bool> CollectiveBench::time(Member& member, const Turn& turn, Samples& samples) {
  constexpr double kShort = 1000;  // us
  constexpr int kWarm = 5;
  TRY(member.own.prepare(turn));
  TRY(auto each, together(member, turn, 1));
  if (each && *each < kShort) {
    TRY(each, together(member, turn, kWarm));
  }
  if (!each) return false;
  const int times = operations_per_sample(*each);
  const int requested = *each < kShort ? 9 : *each < 100 * kShort ? 5 : 3;
  const int repeats = given_.options.repeats() > 0 ? given_.options.repeats() : requested;
  for (int sample = 0; sample < repeats; ++sample) {
    TRY(member.own.prepare(turn));  // in place sums grow: again from the beginning
    TRY(const auto took, together(member, turn, times));
    if (!took) return false;
    samples.add(*took);
  }
  return true;
}

/// Once more with other data, for each kind of number.
Outcome<bool> CollectiveBench::verify(Member& member, const Turn& timed) {
  std::uint64_t wrong = 0;
  for (const auto scalar : checked_scalars(timed.shape)) {
    const auto shape =
        shape_of(timed.shape.operation, timed.shape.ranks, scalar, timed.shape.bytes);
    if (!shape) continue;
    auto turn = timed;
    turn.shape = *shape;
    turn.seed = mixed(timed.seed + static_cast<std::uint64_t>(scalar) + 1);
    TRY(member.own.prepare(turn));
    TRY(const auto took, together(member, turn, 1));
    if (!took) return false;
    TRY(const auto found, member.own.check(turn));
    wrong += found.count;
    if (found.count == 0) continue;
    given_.report.fault(
        {.what = "wrong-result",
         .part = part(member.rank),
         .address = found.index[0] * bytes_of(scalar),
         .detail = words_of(turn) + ": " + cupel::burn::words_of(found, turn.shape.received)});
  }
  figures_.count("collective.errors", part(member.rank), static_cast<double>(wrong), "errors");
  return true;
}

void CollectiveBench::tell(const Turn& turn, const Samples& samples) {
  const auto operation = turn.shape.operation;
  const Labels labels{{"op", std::string{name_of(operation)}},
                      {"bytes", std::to_string(turn.shape.bytes)},
                      {"nvls", std::string{given_.route.nvls_word()}},
                      {"path", std::string{given_.route.path_word()}},
                      {"place", turn.in_place ? "in" : "out"}};
  Samples rates;
  for (const double microseconds : samples.kept())
    rates.add(bus_bandwidth(operation, ranks(), turn.shape.bytes, microseconds));
  figures_.add("collective.busbw", "", rates, "GB/s", labels);
  figures_.add("collective.latency", "", samples, "us", labels);
}

/// A bit of one rank's result, which that rank must find and no other may see.
Outcome<> CollectiveBench::self_test(Member& member) {
  std::mt19937_64 random{given_.options.seed()};  // all ranks draw the same
  const int times = given_.options.self_tests();
  std::uint64_t found_all = 0;
  int time = 0;
  member.scope.idle();
  for (; time < times && barrier_.arrive_and_wait([this] { return goes_on(false); }); ++time) {
    const auto number = static_cast<std::uint64_t>(time);
    const auto turn = turn_of(given_.rows[number % given_.rows.size()], number + 1);
    TRY(member.own.prepare(turn));
    TRY(const auto took, together(member, turn, 1));
    if (!took) break;
    const auto victim = static_cast<int>(random() % static_cast<std::uint64_t>(ranks()));
    const auto word = random() % turn.shape.received;
    const int bit = static_cast<int>(random() % 32);
    TRY(const auto before, member.own.check(turn));
    if (victim == member.rank) {
      TRY(member.own.plant(turn, word, bit));
    }
    TRY(const auto after, member.own.check(turn));
    const bool sees = after.count == 1 && after.index[0] == word;
    const bool is_right = before.count == 0 && (victim == member.rank ? sees : after.count == 0);
    // Not into took_: others may still read that for this turn.
    was_right_[static_cast<std::size_t>(member.rank)] = is_right ? 1 : 0;
    member.scope.idle();
    if (!barrier_.arrive_and_wait([this] { return goes_on(true); })) break;
    found_all += std::ranges::count(was_right_, 1) == ranks() ? 1 : 0;
  }
  if (member.rank != 0) return done();
  return tell_self_test(given_.report, given_.stop, "result-bit", found_all, time, times, "");
}

}  // namespace cupel::burn
