#pragma once
// What a run of the virtual cupel-burn is, and what each of its commands measures of the machine.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "rehearsal/shell/process.h"
#include "rehearsal/tools/gpu_work.h"

namespace cupel::rehearsal {

/// One command line.
struct BurnRequest {
  std::string command{};
  double seconds = 60;
  bool self_test = false;
  std::map<std::string, std::string> words{};  // "--types": what was given, else what counts then
  std::string wrong{};                         // why it is refused
};

/// One sample of a rate, or a count, of a part; the same label sets are one result in the end.
struct BurnSample {
  std::string name{}, part{}, unit{};
  json::object labels{};
  double value = 0;
};

/// The GPUs that it was given, in CUDA's order: "gpu0" is the first of them, wherever it sits.
struct BurnRun {
  const BurnRequest& request;
  std::vector<GpuView> gpus{};
  std::uint64_t slice = 0;  // of time, the one that has just passed
  double rails = 0;         // rail_rate() then
};

struct BurnCommand {
  std::string_view name;
  Work work;
  std::string_view planted;  // in the self-test
  /// What it measures at the end of a slice of time.
  void (*measure)(const Machine& machine, const BurnRun& run, std::vector<BurnSample>& samples);
  std::string_view wrong, wrong_unit;  // the result that counts mistakes
  bool of_node;                        // its mistakes are counted of the node, not of each GPU
  double mistakes_a_second;            // of a GPU that computes wrongly
};

std::span<const BurnCommand> burn_commands();

/// "--seconds", "--types" and what else a command takes, with what counts where it is not given.
std::map<std::string, std::string> burn_words(std::string_view command);

/// GB/s of the slowest rail: a ring through the HCAs is as fast as that one. 0: there is none.
double rail_rate(const Host& host);

/// Why NCCL cannot begin on these ports; empty where it can, or does not ask them.
std::string burn_refusal(const Host& host, const BurnRequest& request);

}  // namespace cupel::rehearsal
