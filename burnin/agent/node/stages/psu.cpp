// The load goes up and down in steps while the controller reads the BMC's supplies. A line now and
// then says which phase it is: that is how the controller knows what it read. It lays the phase's
// name into the job's folder once that is enough: a phase that is paced goes on until then, or
// until patience ends.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array<std::string_view, 3> kPsuLoads{"auto", "gpu", "cpu"};
constexpr milliseconds kBurst{1000}, kLongestLook{32'000};
constexpr seconds kLoadsMargin{120};
constexpr std::size_t kKeptTail = 4096, kLongestComplaint = 120;

struct PsuOrder {
  std::string load{};
  std::uint64_t phase, patience, feeds, pause, settling, limit;
};

void keep_tail(std::string& out) {
  if (out.size() > kKeptTail) out.erase(0, out.size() - kKeptTail);
}

/// What makes the load: one command that lasts longer than all phases, since what ends before has
/// left a part of its phase without it. A square wave of CPUs is a command every other second.
class PsuLoad {
 public:
  PsuLoad(Node& node, bool by_gpus, const PsuOrder& order)
      : node_{node}, by_gpus_{by_gpus}, limit_{order.limit} {
    lasts_ = seconds{2 * order.phase + order.patience + order.feeds} + kLoadsMargin;
  }

  void begin(bool in_waves) {
    bursts_ = in_waves && !by_gpus_;
    next_ = node_.clock.now();
    if (!bursts_) start(by_gpus_ ? burn(in_waves) : stress(lasts_));
  }

  /// Lets so much time pass.
  Work<bool> wait(milliseconds span) {
    const auto until = node_.clock.now() + span;
    for (auto now = node_.clock.now(); now < until; now = node_.clock.now()) {
      if (bursts_ && number_ == 0 && now >= next_)
        start(stress(std::chrono::duration_cast<seconds>(kBurst)));
      const auto end = bursts_ && number_ == 0 ? std::min(until, next_) : until;
      auto ended = co_await node_.programs.first_end(end - now);
      if (!ended) continue;
      number_ = 0;
      next_ = node_.clock.now() + kBurst;
      if (!bursts_) complaint_ = last_line(ended->ran);
    }
    co_return true;
  }

  /// Empty while it lasts; else the last that it printed.
  std::string ended_early() const {
    return bursts_ || number_ != 0 ? std::string{} : "the load ended early: " + complaint_;
  }

  Work<bool> end() {
    if (number_ != 0) co_await node_.programs.stop(number_);
    number_ = 0;
    bursts_ = false;
    co_return true;
  }

 private:
  static std::string last_line(const Ran& ran) {
    const auto all = lines(trimmed(ran.err.empty() ? ran.out : ran.err));
    return all.empty() ? "" : shortened(printable(all.back()), kLongestComplaint);
  }
  static std::vector<std::string> stress(seconds span) {
    return {"stress-ng", "--cpu", "0", "--timeout", std::to_string(span.count()) + "s"};
  }
  /// One type that loads every chip: fp64 leaves those with few units for it nearly idle.
  std::vector<std::string> burn(bool in_waves) const {
    std::vector<std::string> argv{"cupel-burn", "gemm",      "--types",
                                  "bf16",       "--seconds", std::to_string(lasts_.count())};
    if (in_waves) argv.insert(argv.end(), {"--pattern", "square", "--hertz", "1"});
    return argv;
  }
  void start(std::vector<std::string> argv) {
    number_ = node_.programs.start(
        {.argv = std::move(argv), .limit = seconds{limit_}, .shorten = keep_tail});
  }

  Node& node_;
  bool by_gpus_, bursts_ = false;
  std::uint64_t limit_;
  seconds lasts_{};
  milliseconds next_{};  // when the next burst begins
  int number_ = 0;       // of the command that runs; 0: none does
  std::string complaint_{};
};

/// The phases of one run.
class Phases {
 public:
  Phases(Node& node, const PsuOrder& order, PsuLoad& load)
      : node_{node}, load_{load}, order_{order}, patience_{seconds{order.patience}} {}

  void give_patience(seconds more) { patience_ += more; }

  Work<bool> settle() {
    co_await pass("settling", seconds{order_.settling}, node_.clock.now());
    co_return true;
  }

  /// At least as long as the order says, and until the BMC was read often enough in it. Whoever
  /// started no job has nobody who could tell.
  Work<bool> pace(std::string name) {
    const auto began = node_.clock.now();
    co_await pass(name, seconds{order_.phase}, began);
    milliseconds nap = seconds{order_.pause};
    while (!node_.job.empty() && patience_ > milliseconds{0} && !is_read(name)) {
      const auto before = node_.clock.now();
      print(name, began);
      nap = std::min(nap, patience_);
      co_await load_.wait(nap);
      if (nap < kLongestLook) nap *= 2;
      patience_ -= node_.clock.now() - before;
    }
    co_return true;
  }

  /// Under load. Not empty: it ended before the phase did.
  Work<GaveUp> pace_loaded(std::string name, bool in_waves) {
    load_.begin(in_waves);
    co_await settle();
    co_await pace(name);
    auto why = load_.ended_early();
    co_await load_.end();
    co_return why;
  }

 private:
  void print(std::string_view name, milliseconds began) {
    const auto since = std::chrono::duration_cast<seconds>(node_.clock.now() - began);
    node_.lines.phase(name, static_cast<double>(since.count()));
  }
  /// The time is asked, not counted: on a node that is busy to the last core a second's wait may
  /// take two.
  Work<bool> pass(std::string name, milliseconds length, milliseconds began) {
    while (node_.clock.now() - began < length) {
      print(name, began);
      co_await load_.wait(seconds{order_.pause});
    }
    co_return true;
  }
  bool is_read(std::string_view name) const {
    const auto word = node_.tree.text(node_.job + "/word").value_or("");
    return word.substr(0, word.find('\n')) == name;
  }

  Node& node_;
  PsuLoad& load_;
  const PsuOrder& order_;
  milliseconds patience_;
};

}  // namespace

Work<GaveUp> run_psu(Node& node, const JsonValue& asked) {
  OrderReader read{asked};
  const PsuOrder order{read.word("load", kPsuLoads),
                       read.amount("phase", 1, kLongestLimit),
                       read.amount("patience", 0, kLongestLimit),
                       read.amount("feeds", 0, kLongestLimit),
                       read.amount("pause", 1, 60),
                       read.amount("settling", 1, 60),
                       read.amount("limit", 1, 3 * kLongestLimit)};
  if (!read.why().empty()) co_return read.why();
  const bool by_gpus =
      order.load == "gpu" || (order.load == "auto" && node.programs.has("cupel-burn"));
  const std::string tool = by_gpus ? "cupel-burn" : "stress-ng";
  if (!node.programs.has(tool)) co_return tool + " is not installed on the node";
  node.lines.asked("seconds", static_cast<double>(order.phase));
  node.lines.note("load", by_gpus ? "gpu" : "cpu");
  PsuLoad load{node, by_gpus, order};
  Phases phases{node, order, load};
  co_await phases.pace("idle");
  auto why = co_await phases.pace_loaded("full", false);
  if (!why.empty()) co_return why;
  co_await phases.settle();
  co_await phases.pace("rest");
  why = co_await phases.pace_loaded("wave", true);
  if (!why.empty()) co_return why;
  if (order.feeds > 0) {
    // What carries the node when a feed goes must bear its full load.
    phases.give_patience(seconds{order.feeds});
    why = co_await phases.pace_loaded("feeds", false);
    if (!why.empty()) co_return why;
  }
  node.lines.phase("over", 0);
  co_return {};
}

}  // namespace cupel::agent
