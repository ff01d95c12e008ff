#pragma once
// What somebody set in the GPUs of one node, and what runs on them: the driver's own memory.
// Settings die with the driver, at every boot, but for MIG and ECC, which the boards keep
// themselves. Not what is wrong with a GPU: that is its faults, and gpu_view.h puts both together.
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cupel::rehearsal {

/// One board, under its name ("gpu3"). What nobody set is as the board came.
struct GpuSettings {
  std::optional<bool> persistence{};
  std::optional<double> power_limit{};
  std::optional<int> locked_mhz{};
  std::optional<std::string> compute_mode{};
  std::optional<bool> mig{}, mig_pending{};
  std::optional<bool> ecc{}, ecc_pending{};
};

struct GpuProcess {
  int number = 0;
  std::string name{};
  int mib = 0;
};

/// Counters that were there when somebody, or a reset, set them to nought.
struct CountersCleared {
  std::uint64_t corrected = 0, uncorrected = 0;
  std::uint64_t pcie_replays = 0;
  std::map<int, std::uint64_t> nvlink_crc{};  // by link
};

class GpuDriver {
 public:
  GpuSettings& settings(const std::string& gpu) { return boards_[gpu].settings; }
  CountersCleared& cleared(const std::string& gpu) { return boards_[gpu].cleared; }

  /// A program has a context on these GPUs until this goes.
  class Context {
   public:
    Context(GpuDriver& driver, std::vector<std::string> gpus, GpuProcess process);
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context();

   private:
    GpuDriver& driver_;
    std::vector<std::string> gpus_;
    int number_;
  };
  std::vector<GpuProcess> processes(const std::string& gpu) const;

  /// The driver was loaded anew: what waited for that is done.
  void restart();
  /// One board began anew.
  void reset(const std::string& gpu);
  /// How often a board began anew since it was fitted.
  int restarts(const std::string& gpu) const;

  /// Whether a program was on the board since it last began anew.
  bool worked(const std::string& gpu) const;

  /// It fell off its bus at that time (of the rack); only power brings it back.
  void lose(const std::string& gpu, double when);
  std::optional<double> lost(const std::string& gpu) const;
  /// Lost before the last boot: this driver never saw it.
  bool absent(const std::string& gpu) const;
  void power_was_away();
  /// Other boards: what was remembered of them means nothing.
  void refit();

 private:
  struct Board {
    GpuSettings settings{};
    CountersCleared cleared{};
    std::vector<GpuProcess> processes{};
    int restarts = 0;
    bool worked = false;
    std::optional<double> lost{};
    bool absent = false;
  };
  static void apply(Board& board);
  std::map<std::string, Board> boards_;
};

}  // namespace cupel::rehearsal
