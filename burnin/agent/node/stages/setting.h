#pragma once
// One thing that `settings` sets and `settings-restore` sets back: what it is now, and to change
// it. Each is read back: a tool's word that it has done it is not enough.
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

/// What is set, under the names that the record has had since its first version.
struct Setting {
  std::string key{};   // "gpu.power", "governor", "numa_balancing", "irq", "irqbalance", ...
  std::string part{};  // a GPU's UUID, an interrupt's number, or a word where there is but one
  std::string gpu{};   // "3": how nvidia-smi counts it now; empty of all that is no GPU

  bool is_of_gpu() const { return key.starts_with("gpu."); }
  bool is(const Setting& other) const { return key == other.key && part == other.part; }
  /// For people: "gpu3", "irq 33", "governor".
  std::string name() const;
};

/// After a change: what it is then, and why it is not what was asked for.
struct Changed {
  std::string is{};
  std::string why{};
};

inline constexpr std::string_view kNeedsRestart = "needs a restart";
inline constexpr std::string_view kDefaultClocks = "default";  // of locked clocks: none

/// What it is now; empty where nothing can be read. Of locked clocks there is nothing to read.
Work<std::string> read_setting(Node& node, Setting setting);

/// Sets it and reads it back.
Work<Changed> change_setting(Node& node, Setting setting, std::string value);

/// Whether an interrupt is on none but those CPUs.
bool is_inside(std::string_view cpus, std::string_view others);

/// The governors of all CPUs, each once, in order.
std::vector<std::string> governors(const Node& node);

/// What nvidia-smi prints of one field of a GPU, without blanks.
Work<std::string> query_gpu(Node& node, std::string gpu, std::string field);

/// "clocks.applications.memory,...": the field of a GPU's setting; empty where it has none.
std::string_view field_of(std::string_view key);

/// Whether systemd runs that service.
Work<bool> is_active(Node& node, std::string service);

std::string without_blanks(std::string text);

/// nvidia-smi's answer to a question about all GPUs, as lines; nothing where it
/// failed, with the reason in `why`.
Work<std::vector<std::string>> ask_all_gpus(Node& node, std::string what, std::string& why);

/// A line for the reader: `did` is "set", "held" (found as it was set, or not) or "restored".
void report_setting(const Node& node, std::string_view did, const Setting& setting,
                    const std::string& before, const std::string& expected, const Changed& changed);

/// The first line that a tool printed, as it may stand in the record: no '|', at most 160 bytes.
std::string first_line(const Ran& ran);

}  // namespace cupel::agent
