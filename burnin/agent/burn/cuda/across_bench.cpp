#include <algorithm>
#include <chrono>

#include "burnin/agent/burn/cuda/across_join.h"
#include "burnin/agent/burn/cuda/across_nodes.h"
#include "burnin/agent/burn/cuda/cuda_check.h"
#include "burnin/agent/burn/links/numa.h"
#include "burnin/agent/burn/workers.h"

namespace cupel::burn {
namespace {

constexpr int kWarm = 5;           // operations before the time counts, as nccl-tests has it
constexpr int kMostForBf16 = 128;  // ranks: with more every number would be 0, to be exact

std::vector<Scalar> scalars_of(const Shape& shape) {
  auto scalars = checked_scalars(shape);
  if (shape.ranks > kMostForBf16) std::erase(scalars, Scalar::kBfloat16);
  return scalars;
}

}  // namespace

std::uint64_t AcrossBench::Place::entered() {
  const std::scoped_lock lock{mutex};
  const bool is_only_queued = rank != nullptr && rank->passed() == 0;
  return number - (is_only_queued && number > 0 ? 1 : 0);
}

AcrossBench::AcrossBench(Given given)
    : given_{std::move(given)},
      figures_{given_.report},
      barrier_{static_cast<std::size_t>(given_.all.count())},
      took_(static_cast<std::size_t>(given_.all.count())) {
  for (int number = 0; number < given_.all.count(); ++number)
    places_.push_back(std::make_unique<Place>());
}

bool AcrossBench::run() {
  std::vector<Worker> workers;
  for (int number = 0; number < given_.all.count(); ++number)
    workers.push_back({part(number), [this, number] { return work(number); }});
  const bool sound = run_workers(std::move(workers), given_.report, given_.stop);
  return sound && ended_ == given_.all.count();
}

std::string AcrossBench::words_of(const Shape& shape) const {
  return std::string{name_of(shape.operation)} + " of " + size_text(shape.bytes) + " over " +
         std::to_string(shape.ranks) + " ranks";
}

Labels AcrossBench::labels(const Shape& shape) const {
  return {{"op", std::string{name_of(shape.operation)}},
          {"bytes", std::to_string(shape.bytes)},
          {"ranks", std::to_string(shape.ranks)}};
}

Outcome<> AcrossBench::work(int number) {
  const agent::CancelOnExit cancels{barrier_};
  WatchdogScope scope{given_.watchdog, part(number)};
  scope.doing("allocating the buffers of a collective");
  const auto& device = given_.node.devices[static_cast<std::size_t>(number)];
  stay_near(device.gpu.pci);
  TRY(cuda(cudaSetDevice(device.ordinal), "choosing the GPU"));
  TRY(auto own, Rank::open(given_.all, number, given_.most_bytes));
  auto& place = *places_[static_cast<std::size_t>(number)];
  {
    const std::scoped_lock lock{place.mutex};
    place.rank = &own;
  }
  Outcome<bool> outcome = false;
  {
    const StepPosition position{scope, [&place] { return place.entered(); }};
    Member member{number, own, scope};
    outcome = run_shapes(member);
  }
  const bool is_through = outcome.value_or(false);
  if (is_through)
    ++ended_;
  else  // before its memory is given back: that waits for the GPU, and the GPU for the other ranks
    given_.all.abort(number);
  const std::scoped_lock lock{place.mutex};
  place.rank = nullptr;
  // Where all nodes are stopped, NCCL's complaint of another one is no finding.
  if (!outcome && !given_.stop.by_signal()) return std::move(outcome).error();
  return done();
}

Outcome<bool> AcrossBench::run_shapes(Member& member) {
  std::uint64_t number = 0;
  for (const auto& shape : given_.shapes) {
    TRY(const bool measured, measure(member, shape, ++number));
    if (!measured) return false;
    TRY(const bool verified, verify(member, shape, number));
    if (!verified) return false;
  }
  // Nobody ends before the last one is here: rank 0's process holds what the others met at.
  Turn turn{.seed = given_.seed};
  turn.shape = *shape_of(Operation::kAllReduce, given_.all.all_ranks(), Scalar::kInt32, 4);
  TRY(member.own.prepare(turn));
  TRY(const auto took, together(member, turn, 1));
  return took.has_value();
}

void AcrossBench::enter(const Member& member, const Turn& turn) {
  auto& place = *places_[static_cast<std::size_t>(member.number)];
  const std::scoped_lock lock{place.mutex};
  place.number = member.operations;
  place.doing = words_of(turn.shape);
}

Outcome<std::optional<double>> AcrossBench::together(Member& member, const Turn& turn, int times) {
  ++member.operations;
  member.scope.doing(words_of(turn.shape), member.operations);
  TRY(member.own.queue(turn, times));
  enter(member, turn);
  const auto is_over = [this] { return barrier_.is_cancelled() || given_.stop.over(); };
  auto waited = member.own.wait(is_over);
  if (!waited && is_over()) return std::optional<double>{};
  TRY(std::move(waited));
  TRY(took_[static_cast<std::size_t>(member.number)], member.own.microseconds(times));
  member.scope.idle();
  if (!barrier_.arrive_and_wait()) return std::optional<double>{};
  const auto slowest = *std::ranges::max_element(took_);
  if (!barrier_.arrive_and_wait()) return std::optional<double>{};
  return std::optional{slowest};
}

Outcome<bool> AcrossBench::measure(Member& member, const Shape& shape, std::uint64_t number) {
  using Clock = std::chrono::steady_clock;
  const Turn turn{.shape = shape, .seed = transfer_seed(given_.seed, number, 0)};
  member.scope.doing("filling memory", member.operations);
  const auto begun = Clock::now();
  TRY(member.own.prepare(turn));
  const std::chrono::duration<double, std::micro> own = Clock::now() - begun;
  given_.report.result("across.own", part(member.number), own.count(), "us", labels(shape));
  TRY(const auto warm, together(member, turn, kWarm));
  if (!warm) return false;
  const auto times = static_cast<int>(given_.options.number("--times"));
  TRY(const auto took, together(member, turn, times));
  if (took && member.number == 0) tell(shape, *took);
  return took.has_value();
}

Outcome<bool> AcrossBench::verify(Member& member, const Shape& timed, std::uint64_t number) {
  std::uint64_t wrong = 0;
  for (const auto scalar : scalars_of(timed)) {
    const auto shape = shape_of(timed.operation, timed.ranks, scalar, timed.bytes);
    if (!shape) continue;
    Turn turn{.shape = *shape};
    turn.seed = transfer_seed(given_.seed, number, 1 + static_cast<std::uint64_t>(scalar));
    member.scope.doing("filling memory", member.operations);
    TRY(member.own.prepare(turn));
    TRY(const auto took, together(member, turn, 1));
    if (!took) return false;
    TRY(const auto found, member.own.check(turn));
    wrong += found.count;
    if (found.count == 0) continue;
    given_.report.fault({.what = "wrong-result",
                         .part = part(member.number),
                         .address = found.index[0] * bytes_of(scalar),
                         .detail = words_of(turn.shape) + ": " +
                                   cupel::burn::words_of(found, turn.shape.received)});
  }
  figures_.count("collective.errors", part(member.number), static_cast<double>(wrong), "errors");
  return true;
}

void AcrossBench::tell(const Shape& shape, double microseconds) {
  const auto with = labels(shape);
  const double algorithm = static_cast<double>(shape.bytes) / (microseconds * 1e3);
  auto& report = given_.report;
  report.result("across.time", "", microseconds, "us", with);
  report.result("across.algbw", "", algorithm, "GB/s", with);
  report.result("across.busbw", "",
                bus_bandwidth(shape.operation, shape.ranks, shape.bytes, microseconds), "GB/s",
                with);
}

void AcrossBench::tell_ranks() {
  std::vector<std::uint64_t> entered;
  std::string doing;
  for (const auto& each : places_) {
    entered.push_back(each->entered());
    const std::scoped_lock lock{each->mutex};
    if (doing.empty()) doing = each->doing;
  }
  given_.report.say(ranks_line(given_.all, entered, doing));
}

}  // namespace cupel::burn
