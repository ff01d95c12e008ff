#include "burnin/node/log_readings.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "burnin/node/kernel_report.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;

constexpr std::string_view kLog = "the kernel's log", kSource = "cupel-node kernel-log";

constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};

constexpr auto kMeasures = [] {
  std::array<std::string_view, kKernelMeasures.size() + 2> names{};
  std::ranges::copy(kKernelMeasures, names.begin());
  names[kKernelMeasures.size()] = "node.restarted";
  names.back() = "kernel_log.complete";
  return names;
}();

Result<Job> prepare(const Profile&, const Parameters&) {
  return Job{script::head() + script::needs("cupel-node") + "echo 'the controller reads the log'\n",
             std::chrono::seconds{1}, std::chrono::seconds{600}};
}

/// Nothing is proven; a later reading may still cover it, but for what nobody can read later.
Findings unknown_log(std::string why, bool reads_later = true) {
  Findings found;
  if (!reads_later) add(found, "kernel_log.complete", "", 0, "");
  found.unknown.push_back({std::string{kLog}, std::string{kSource}, script::clean(why)});
  return found;
}

std::string utc_text(double since_1970) {
  constexpr double kYear10000 = 253402300800.0;
  const auto whole = static_cast<long long>(std::clamp(since_1970, 0.0, kYear10000 - 1));
  return fmt::format("{:%F %T} UTC", std::chrono::sys_seconds{std::chrono::seconds{whole}});
}

/// What every machine logs while it starts, and no fault by itself: ports without a link yet,
/// devices that their firmware still uses, processors that warm up.
bool belongs_to_a_boot(const json::value& row) {
  constexpr std::array<std::string_view, 4> kStarting{"link", "net", "iommu", "oom"};
  const auto kind = text_at(row, "class").value_or("");
  if (kind == "thermal") return text_at(row, "weight") != "error";
  if (kind == "pcie") return text_at(row, "detail").value_or("").contains("Link Down");
  return std::ranges::find(kStarting, kind) != kStarting.end();
}

/// What all readings of one stage say together. GPUs go by the address at which they were found
/// first: one that fell off its bus moves the others up.
class Readings {
 public:
  void take(const json::value& reading) {
    for (const auto& [part, address] : places_of(reading))
      if (!places_.contains(part) && by_address_.emplace(address, part).second)
        places_[part] = address;
    since_known_ = since_known_ || find(reading, "messages") != nullptr;
    const bool restarted = flag_at(reading, "restarted") == 1;
    const bool from_boot = flag_at(reading, "from_boot") == 1;
    if (restarted) booted_ = number_at(reading, "booted");
    restarted_ = restarted_ || restarted;
    const double before = latest_;
    const double lost = std::max(0.0, number_at(reading, "lost").value_or(0));
    (from_boot ? lost_of_boot_ : lost_) += lost;
    for (const auto& row : rows_at(reading, "messages")) {
      if (rows_.size() == kMostRows || !row.is_object()) continue;
      if ((restarted || from_boot) && belongs_to_a_boot(row)) continue;
      rows_.push_back(row);
      note_time(number_at(row, "since_boot"), before);
      auto& kept = rows_.back().get_object();
      const auto at = by_address_.find(text_at(row, "pci").value_or(""));
      if (at != by_address_.end()) kept["part"] = at->second;
    }
  }

  Findings findings(const Profile& profile) const {
    Findings found;
    const Names names{profile, places_};
    json::object places;
    for (const auto& [part, address] : places_) places[part] = address;
    const json::value hello = json::object{{"places", std::move(places)}};
    const auto rows = named(profile);
    add_kernel_messages(rows, names, found);
    add_kernel_xids(rows, hello, names, found);
    if (!restarted_ && !clock_jumped_) add_first_messages(rows, "since_boot", names, found);
    add(found, "node.restarted", "", restarted_ ? 1 : 0, "");
    if (restarted_ && booted_ && std::isfinite(*booted_))
      found.measurements.back().traced_to =
          fmt::format("at {} by the node's clock", utc_text(*booted_));
    if (lost_of_boot_ > 0)
      found.unknown.push_back(
          {"the beginning of the boot's log", std::string{kSource},
           fmt::format("the kernel had overwritten {:.0f} records", lost_of_boot_)});
    const auto why = why_not_whole();
    add(found, "kernel_log.complete", "", why.empty() ? 1 : 0, "");
    if (!why.empty())
      found.unknown.push_back({"a part of the kernel's log", std::string{kSource}, why});
    add_words(rows, names, found);
    return found;
  }

 private:
  /// A later reading has later messages: where it does not say so, no order is known.
  void note_time(std::optional<double> at, double before) {
    if (!at) return;
    clock_jumped_ = clock_jumped_ || *at < before;
    latest_ = std::max(latest_, *at);
  }

  /// An Xid of a GPU that nobody has seen at its address is a GPU's all the same.
  std::vector<json::value> named(const Profile& profile) const {
    constexpr std::string_view kUnnamed = "pci ";
    auto rows = rows_;
    for (auto& row : rows) {
      const auto kind = text_at(row, "class"), part = text_at(row, "part");
      const bool of_gpu = kind == "xid" || kind == "gpu" || kind == "gpu-reset";
      if (!of_gpu || !part || !part->starts_with(kUnnamed)) continue;
      const auto address = part->substr(kUnnamed.size());
      const Names place{profile, {{"gpu", address}}};
      const auto name = place.of("gpu");
      row.get_object()["part"] = name == "gpu" ? "gpu at " + address : name;
    }
    return rows;
  }

  std::string why_not_whole() const {
    if (!since_known_) return "where it stood before the stage is not known";
    if (restarted_) return "the node was restarted: what the kernel said before that is lost";
    if (lost_ > 0)
      return fmt::format("the kernel had overwritten {:.0f} records before they were read", lost_);
    return {};
  }

  /// The errors, in words, for people.
  static void add_words(std::span<const json::value> rows, const Names& names, Findings& found) {
    constexpr std::size_t kMostWords = 8;
    for (const auto& row : rows) {
      if (text_at(row, "weight") != "error" || found.facts.size() == kMostWords) continue;
      const auto part = names.of(text_at(row, "part").value_or(""));
      const auto kind = script::clean(text_at(row, "class").value_or(""));
      const auto code = number_at(row, "code");
      const auto name =
          kind + (code ? fmt::format(" {:.0f}", *code) : "") + (part.empty() ? "" : " of " + part);
      found.facts.try_emplace("kernel-log." + name,
                              name + ": " + script::clean(text_at(row, "detail").value_or("")));
    }
  }

  std::map<std::string, std::string> places_{};  // by the node's own names
  std::map<std::string, std::string> by_address_{};
  std::vector<json::value> rows_{};
  bool since_known_ = false, restarted_ = false, clock_jumped_ = false;
  double latest_ = 0;  // seconds since the boot
  double lost_ = 0, lost_of_boot_ = 0;
  std::optional<double> booted_{};  // when, of the newest restart
};

Result<Findings> parse(const Profile& profile, const Output& output) {
  if (output.beside.empty()) return unknown_log("it was not read");
  Readings readings;
  for (const auto line : lines(output.beside)) {
    if (line.empty()) continue;
    const auto reported = parse_line(line);
    if (!reported) return Error{Code::kMalformed, "what was read of the kernel's log is no JSON"};
    if (const auto why = text_at(*reported, "failed"))
      return unknown_log(*why, flag_at(*reported, "reads_later") != 0);
    if (text_at(*reported, "kind") != "kernel-log")
      return Error{Code::kMalformed, "what was read of the kernel's log is another document"};
    if (flag_at(*reported, "readable") != 1)
      return unknown_log(text_at(*reported, "why").value_or("not readable"));
    readings.take(*reported);
  }
  return readings.findings(profile);
}

}  // namespace

Stage kernel_log() {
  Stage row{"kernel-log",
            "what the kernel has logged since the first load; read after every stage anyway",
            {},
            prepare,
            parse,
            kMeasures,
            {0, 0, "nothing is done"},
            kPrograms};
  row.is_kernel_log = true;
  return row;
}

}  // namespace cupel::burnin
