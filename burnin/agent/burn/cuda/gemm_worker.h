#pragma once
// One GPU's part of `gemm`: rounds of fresh data, products that are all verified, and the small
// work on every SM. Lives in one thread of a process of its own, whose current device is this one.
#include <optional>
#include <set>
#include <vector>

#include "burnin/agent/burn/checked.h"
#include "burnin/agent/burn/cuda/cublaslt.h"
#include "burnin/agent/burn/cuda/devices.h"
#include "burnin/agent/burn/gemm_lines.h"
#include "burnin/agent/burn/load_pattern.h"
#include "burnin/agent/burn/planting.h"
#include "burnin/agent/burn/power_sampler.h"
#include "burnin/agent/burn/sm_said.h"
#include "burnin/agent/burn/stop.h"
#include "burnin/agent/burn/tell_times.h"
#include "burnin/agent/burn/watchdog.h"
#include "burnin/agent/burn/way_choice.h"

namespace cupel::burn {

/// What all GPUs of a model share: the way in which products of a type are done.
struct Recipe {
  ProductShape shape{};
  std::vector<LtProduct> ways;  // all of the library's; one, once it was chosen
  bool rotates = false;         // whether B is rotated from product to product
};

Product product_of(const ProductShape& shape);

/// What random numbers are for, each with a seed of its own.
enum GemmStream : std::uint64_t {
  kStreamA = 1,
  kStreamB,
  kStreamSamples,
  kStreamSms,
  kStreamPlants,
};

class GemmWorker {
 public:
  struct Around {
    const Options& options;
    const Node& node;
    const Device& device;
    Report& report;
    Stop& stop;
  };

  /// Makes this device current, and what is needed on it. Without `recipes` it asks the library for
  /// its own.
  static Outcome<GemmWorker> make(const Around& around, std::shared_ptr<const CublasLt> library,
                                  const std::vector<WrittenRecipe>& recipes);

  /// Tries the ways of each type, unverified: how fast, and whether products repeat bit for bit.
  /// Where one product takes long, only the library's first guess.
  Outcome<std::vector<WayTrials>> try_ways(WatchdogScope& scope);
  std::vector<WrittenRecipe> recipes() const;

  /// Round after round until it is over, or this GPU fails; the figures meanwhile and at the end.
  Outcome<> burn(WatchdogScope& scope);
  /// Plants `times` errors of a single bit in results, in operands and in SMs, and fewer of other
  /// kinds in results.
  Outcome<> self_test(WatchdogScope& scope, int times);

 private:
  static constexpr int kSmBlocksEach = 4;  // of the small work, so that no SM is left out

  /// Of one type.
  struct Figures {
    Samples verified;  // TFLOP/s
    Samples unverified;
    double seconds_each = 0;  // of the last product that ended
  };
  /// When the products of one type end: by count where one was asked for, else by time.
  struct Until {
    std::uint64_t count = 0;
    Stop::Clock::time_point moment{};
    bool reached(std::uint64_t products) const {
      return count > 0 ? products >= count : Stop::Clock::now() >= moment;
    }
  };
  struct Slot {  // of a product under way
    Event begun;
    Event ended;
    bool verified = true;
    bool used = false;
  };

  explicit GemmWorker(const Around& around) : around_{around} {}
  Outcome<> ask_for_ways();
  Outcome<> read_ways(const std::vector<WrittenRecipe>& recipes);
  Outcome<> allocate();
  Outcome<double> time_of(const LtProduct& way, const Recipe& recipe, int times);
  Outcome<bool> repeats(const LtProduct& way, const Recipe& recipe, int times, bool rotated);
  const void* rotated_b(const Recipe& recipe, std::uint64_t rotation) const;
  Outcome<> rounds(const PowerSampler& power, WatchdogScope& scope);
  Outcome<> begin(const Recipe& recipe, std::uint64_t round);
  Outcome<> products(const Recipe& recipe, std::uint64_t round, Until until, bool verified,
                     WatchdogScope& scope);
  Outcome<> queue(Slot& slot, const Recipe& recipe, std::uint64_t product, bool verified);
  Outcome<> settle(Slot& slot, const Recipe& recipe, std::uint64_t round);
  /// `share` of what a type takes within a round, from now on.
  Until until(double share) const;
  Figures& figures_of(const Recipe& recipe) {
    return figures_[static_cast<std::size_t>(&recipe - recipes_.data())];
  }
  unsigned wrong_chunks_seen() const;
  Outcome<std::uint64_t> tell_wrong(const Recipe& recipe, std::uint64_t round);
  Outcome<> check_operands(const Recipe& recipe, std::uint64_t round);
  Outcome<std::uint64_t> operands_wrong(const Recipe& recipe);
  Outcome<SmJudgement> every_sm(std::uint64_t seed, int planted);
  Outcome<> check_sms(std::uint64_t round);
  Outcome<> plant_in_results(const Recipe& recipe, PlantKind kind, int times, WatchdogScope& scope);
  Outcome<> plant_in_operands(const Recipe& recipe, int times, WatchdogScope& scope);
  Outcome<> plant_in_sms(int times, WatchdogScope& scope);
  Outcome<> sync(std::string_view what);
  void wrong(Fault fault, std::uint64_t times = 1);
  void tell_figures(const Samples& watts);
  /// Whether another product may begin now; else it has waited for the pattern to change.
  bool may_begin(const LoadPattern& pattern, double seconds_each, WatchdogScope& scope);
  LoadPattern load_pattern() const;

  Around around_;
  std::vector<Recipe> recipes_;
  std::optional<LtHandle> handle_;
  Stream stream_;
  Memory a_, b_, first_, result_, evidence_, sums_, found_, samples_, results_;
  Pinned seen_;  // WrongChunks, as of the last product that ended
  std::vector<Slot> slots_;
  int shared_bytes_ = 0;
  std::set<int> sms_seen_;
  bool rested_ = true;  // since the last product was begun, by the pattern
  std::uint64_t wrong_ = 0;
  std::uint64_t rounds_ = 0;
  std::vector<Figures> figures_;
};

}  // namespace cupel::burn
