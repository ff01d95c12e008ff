// Samplers of sysfs: each file is opened once and read again from its beginning, which costs one
// call into the kernel.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/node/watch/reading.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kMostGauges = 4096;

struct Gauge {
  Descriptor file;
  std::string part;
  std::string_view name;
  double factor = 1;
  bool slow = false;

  std::optional<double> read() const {
    char text[64];
    const auto got = ::pread(file.number(), text, sizeof text, 0);
    if (got <= 0) return std::nullopt;
    const auto value = number_in({text, static_cast<std::size_t>(got)});
    return value ? std::optional{*value * factor} : std::nullopt;
  }
};

class Files : public Sampler {
 public:
  /// False where there is no such file; one that can't be read is a gap.
  bool watch(const Tree& tree, const std::string& path, std::string part, std::string_view name,
             double factor = 1, bool slow = false) {
    if (gauges_.size() == kMostGauges) return false;
    Gauge gauge{Descriptor{::open(tree.real(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)},
                std::move(part), name, factor, slow};
    if (!gauge.file) return false;
    if (!gauge.read()) {
      lack(std::string{name} + " of " + gauge.part, path, "no number can be read from it");
      return false;
    }
    gauges_.push_back(std::move(gauge));
    return true;
  }

  void lack(std::string fact, std::string source, std::string why) {
    gaps_.push_back({std::move(fact), std::move(source), std::move(why)});
  }

  void read(bool slow, std::vector<Reading>& into) override {
    for (const auto& gauge : gauges_) {
      if (gauge.slow && !slow) continue;
      const auto value = gauge.read();
      if (!value) continue;
      // Several of one part stand for one number: the most.
      const bool again =
          !into.empty() && into.back().part == gauge.part && into.back().name == gauge.name;
      if (again)
        into.back().value = std::max(into.back().value, *value);
      else
        into.push_back({gauge.part, gauge.name, *value});
    }
  }

  std::vector<Gap> gaps() const override { return gaps_; }
  bool empty() const { return gauges_.empty(); }

 private:
  std::vector<Gauge> gauges_;
  std::vector<Gap> gaps_;
};

struct Counter {
  const char* file;
  std::string_view name;
  double factor;
  bool slow;
};

/// Data is counted in words of four octets. Source: InfiniBand architecture specification 1.4,
/// 16.1.3.5 (PortCounters).
constexpr std::array kCounters{
    Counter{"port_xmit_data", "sent", 4, false},
    Counter{"port_rcv_data", "received", 4, false},
    Counter{"symbol_error", "symbol_errors", 1, true},
    Counter{"link_downed", "link_downed", 1, true},
    Counter{"link_error_recovery", "link_recovered", 1, true},
    Counter{"port_rcv_errors", "receive_errors", 1, true},
    Counter{"port_xmit_discards", "discards", 1, true},
    Counter{"local_link_integrity_errors", "integrity_errors", 1, true},
    Counter{"excessive_buffer_overrun_errors", "overruns", 1, true},
    Counter{"port_xmit_wait", "wait", 1, true},
};

}  // namespace

std::unique_ptr<Sampler> port_sampler(const Tree& tree) {
  constexpr std::string_view kFolder = "/sys/class/infiniband";
  auto files = std::make_unique<Files>();
  for (const auto& name : tree.names(kFolder)) {
    // A bond is made of ports that are watched themselves.
    if (name.find("bond") != name.npos) continue;
    const auto folder = std::string{kFolder} + "/" + name + "/ports";
    for (const auto& port : tree.names(folder)) {
      const auto part = port == "1" ? name : name + "/" + port;
      for (const auto& [file, quantity, factor, slow] : kCounters)
        if (!files->watch(tree, folder + "/" + port + "/counters/" + file, part, quantity, factor,
                          slow))
          files->lack(std::string{quantity} + " of " + part, folder, "absent or unreadable");
    }
  }
  if (files->empty()) files->lack("fabric ports", std::string{kFolder}, "none");
  return files;
}

namespace {

/// "cpu1" of "Package id 1"; of AMD's k10temp and zenpower, which have no such label, the chip's
/// place in the order of chips.
std::optional<std::string> package_of(const Tree& tree, const std::string& chip,
                                      const std::string& input, int order) {
  const auto label = tree.text(chip + "/" + input + "_label").value_or("");
  constexpr std::string_view kPackage = "Package id ";
  if (label.starts_with(kPackage)) {
    const auto id = number<int>(std::string_view{label}.substr(kPackage.size()));
    return id ? std::optional{"cpu" + std::to_string(*id)} : std::nullopt;
  }
  return label == "Tctl" || label == "Tdie" ? std::optional{"cpu" + std::to_string(order)}
                                            : std::nullopt;
}

void watch_chip(const Tree& tree, const std::string& chip, std::map<std::string, int>& order,
                int& fans, Files& files) {
  constexpr double kMilli = 1e-3;
  const auto name = tree.text(chip + "/name").value_or("");
  const bool cpu = name == "coretemp" || name == "k10temp" || name == "zenpower";
  const int place = order[name]++;
  std::set<std::string> reported;
  for (const auto& file : tree.names(chip)) {
    if (!file.ends_with("_input")) continue;
    const auto input = file.substr(0, file.size() - 6);
    if (file.starts_with("fan"))
      files.watch(tree, chip + "/" + file, "fan" + std::to_string(fans++), "fan", 1);
    if (!file.starts_with("temp")) continue;
    if (name == "nvme" && input == "temp1") {
      const auto device = tree.resolved(chip + "/device");
      const auto drive = device ? std::string{last_name(*device)} : std::string{};
      // A drive is asked for its SMART log each time.
      if (drive.starts_with("nvme"))
        files.watch(tree, chip + "/" + file, drive, "temperature", kMilli, true);
    }
    const auto package = cpu ? package_of(tree, chip, input, place) : std::nullopt;
    if (package && reported.insert(*package).second)
      files.watch(tree, chip + "/" + file, *package, "temperature", kMilli);
  }
}

/// To ask a CPU for its clock wakes it: four of each socket are enough, and the fastest of them
/// says what the socket reaches.
void watch_clocks(const Tree& tree, Files& files) {
  constexpr std::string_view kFolder = "/sys/devices/system/cpu";
  constexpr std::size_t kOfEach = 4;
  constexpr double kMilli = 1e-3;                  // kHz
  std::map<int, std::vector<std::string>> chosen;  // by socket
  for (const auto& name : tree.names(kFolder)) {
    if (!name.starts_with("cpu") || !number<int>(std::string_view{name}.substr(3))) continue;
    const auto folder = std::string{kFolder} + "/" + name;
    const auto socket = tree.number(folder + "/topology/physical_package_id");
    if (!socket || *socket < 0 || *socket > 63) continue;
    auto& some = chosen[static_cast<int>(*socket)];
    if (some.size() < kOfEach) some.push_back(folder + "/cpufreq/scaling_cur_freq");
  }
  bool any = false;
  for (const auto& [socket, paths] : chosen)
    for (const auto& path : paths)
      any |= files.watch(tree, path, "cpu" + std::to_string(socket), "clock", kMilli);
  if (!any) files.lack("CPU clocks", std::string{kFolder}, "no cpufreq driver tells them");
}

}  // namespace

std::unique_ptr<Sampler> heat_sampler(const Tree& tree) {
  constexpr std::string_view kFolder = "/sys/class/hwmon";
  auto files = std::make_unique<Files>();
  std::map<std::string, int> order;
  int fans = 0;
  for (const auto& chip : tree.names(kFolder))
    watch_chip(tree, std::string{kFolder} + "/" + chip, order, fans, *files);
  if (!order.contains("coretemp") && !order.contains("k10temp") && !order.contains("zenpower"))
    files->lack("CPU temperatures", std::string{kFolder}, "no driver for this CPU's sensor");
  if (fans == 0) files->lack("fans", std::string{kFolder}, "none: the BMC keeps them");
  watch_clocks(tree, *files);
  return files;
}

std::unique_ptr<Sampler> memory_sampler(const Tree& tree) {
  constexpr std::string_view kFolder = "/sys/devices/system/edac/mc";
  auto files = std::make_unique<Files>();
  for (const auto& name : tree.names(kFolder)) {
    if (!name.starts_with("mc") || !number<int>(std::string_view{name}.substr(2))) continue;
    const auto folder = std::string{kFolder} + "/" + name;
    files->watch(tree, folder + "/ue_count", name, "uncorrected", 1, true);
    files->watch(tree, folder + "/ce_count", name, "corrected", 1, true);
  }
  if (files->empty())
    files->lack("memory errors", std::string{kFolder}, "no EDAC driver watches the memory");
  return files;
}

}  // namespace cupel::agent
