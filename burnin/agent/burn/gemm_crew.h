#pragma once
// All GPUs of `gemm`, each in a process of its own. They need nothing of each other but the same
// way to multiply, so that their results can be compared: which way is found out first.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "burnin/agent/burn/cross_check.h"
#include "burnin/agent/burn/gemm_lines.h"
#include "burnin/agent/burn/gpu_processes.h"

namespace cupel::burn {

class GemmCrew {
 public:
  /// `program`: the cupel-burn that each GPU's process is.
  GemmCrew(std::string program, const Options& options, const std::vector<Gpu>& gpus,
           Report& report, Stop& stop, Watchdog& watchdog);

  /// Burns until the time is over or `stop` says so. A GPU that fails is reported, and the others
  /// go on. Errors: refused, where no way of the library repeats.
  Outcome<> run();

 private:
  /// What the GPUs of one model have in common.
  struct Model {
    std::vector<WrittenRecipe> recipes{};
    std::unique_ptr<CrossCheck> cross_check{};
  };
  struct Member {
    const Gpu& gpu;
    Model& model;
    std::map<std::string, WayTrials> trials{};  // by type
    std::optional<std::uint64_t> wrong{};       // that its process found
    bool has_failed = false;

    std::string part() const { return "gpu" + std::to_string(gpu.index); }
  };
  using Takes = bool (GemmCrew::*)(Member& member, std::string_view line);

  void ask_for_ways();
  void run_all(std::string_view step, Takes takes, const std::vector<Member*>& members);
  std::vector<Member*> sound();
  bool take_recipe(Member& member, std::string_view line);
  bool take_trials(Member& member, std::string_view line);
  bool take_burn(Member& member, std::string_view line);
  Outcome<> choose_ways();
  Outcome<> choose_way_of(Model& model, WrittenRecipe& recipe);
  void tell_errors(const Member& member);
  void tell(const std::vector<CrossCheck::Odd>& all);

  const std::string program_;
  const Options& options_;
  Report& report_;
  Stop& stop_;
  Watchdog& watchdog_;
  std::map<std::string, Model> models_;
  std::vector<Member> members_;
};

}  // namespace cupel::burn
