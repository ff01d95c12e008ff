#include "burnin/gpu/cupel_burn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

// More than any command says of sixteen GPUs: 240 ordered pairs, four labels; all sizes of six
// collectives.
constexpr std::size_t kMostResults = 8192, kMostGpus = 256, kMostOthers = 1000, kMostLabels = 8;
constexpr std::size_t kLongestLine = 65536;
constexpr std::size_t kMostParts = 1024;
constexpr double kProtocol = 1;

std::string word_at(const json::value& line, std::string_view key) {
  return script::clean(text_at(line, key).value_or(""));
}

std::optional<double> amount_at(const json::value& line, std::string_view key) {
  const auto* value = find(line, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const auto amount = value->to_number<double>();
  return std::isfinite(amount) ? std::optional{amount} : std::nullopt;
}

std::optional<bool> truth_at(const json::value& line, std::string_view key) {
  const auto* value = find(line, key);
  const auto* truth = value == nullptr ? nullptr : value->if_bool();
  return truth == nullptr ? std::nullopt : std::optional{*truth};
}

class Reader {
 public:
  explicit Reader(BurnReport& report) : report_{report} {}

  void read(std::string_view line) {
    if (!line.starts_with('{')) return;
    if (line.size() > kLongestLine) {
      ++report_.damaged;
      return;
    }
    const auto parsed = parse_json(line);
    if (!parsed) {
      ++report_.damaged;
      return;
    }
    const auto& output = *parsed;
    const auto kind = word_at(output, "kind");
    if (kind == "start") return start(output);
    if (kind == "result") return result(output);
    if (kind == "fault") return fault(output);
    if (kind == "hang") return hang(output);
    if (kind == "error") return error(output);
    if (kind == "self-test") return self_test(output);
    if (kind == "end") return end(output);
    if (kind.empty()) ++report_.damaged;
  }

 private:
  template <class Item>
  void keep(std::vector<Item>& items, Item item, std::size_t most) {
    if (items.size() < most)
      items.push_back(std::move(item));
    else
      report_.too_much = true;
  }

  void start(const json::value& line) {
    report_.started = true;
    report_.command = word_at(line, "command");
    report_.version = word_at(line, "version");
    report_.cuda = word_at(line, "cuda");
    report_.driver = word_at(line, "driver");
    report_.nccl = word_at(line, "nccl");
    const auto protocol = amount_at(line, "protocol");
    if (protocol != kProtocol)
      keep(report_.errors,
           {"protocol", "this cupel-burn speaks another protocol: upload the controller's own"},
           kMostOthers);
    const auto* gpus = find(line, "gpus");
    const auto* list = gpus == nullptr ? nullptr : gpus->if_array();
    if (list == nullptr) return;
    for (const auto& each : *list) {
      const auto index = amount_at(each, "index");
      if (!index || *index < 0 || *index >= static_cast<double>(kMostGpus)) continue;
      keep(report_.gpus,
           {static_cast<int>(*index), word_at(each, "pci"), word_at(each, "uuid"),
            word_at(each, "name")},
           kMostGpus);
    }
  }

  void result(const json::value& line) {
    BurnResult result{word_at(line, "name"), word_at(line, "part"), word_at(line, "unit")};
    result.value = amount_at(line, "value");
    if (const auto* labels = find(line, "labels"); labels != nullptr && labels->is_object())
      for (const auto& [key, value] : labels->get_object()) {
        if (result.labels.size() == kMostLabels) break;
        auto word = value.is_string() ? std::string{value.get_string()} : json::serialize(value);
        result.labels[script::clean(key)] = script::clean(word);
      }
    const auto key = std::tie(result.name, result.part, result.labels);
    const auto known = places_.find(key);
    if (known != places_.end()) {
      report_.results[known->second] = std::move(result);
      return;
    }
    if (report_.results.size() == kMostResults) {
      report_.too_much = true;
      return;
    }
    places_.emplace(key, report_.results.size());
    report_.results.push_back(std::move(result));
  }

  void fault(const json::value& line) {
    auto part = word_at(line, "part");
    const bool counted =
        report_.faults_by_part.size() < kMostParts || report_.faults_by_part.contains(part);
    ++report_.faults_by_part[counted ? part : std::string{}];
    if (report_.faults.size() == kMostOthers) return;
    std::string where;
    const auto add = [&](std::string_view form, std::optional<double> amount) {
      if (!amount) return;
      if (!where.empty()) where += ", ";
      where += fmt::format(fmt::runtime(form), plain(*amount, 1));
    };
    add("SM {}", amount_at(line, "sm"));
    add("round {}", amount_at(line, "round"));
    add("{} C", amount_at(line, "celsius"));
    for (const auto& more : {word_at(line, "address"), word_at(line, "detail")})
      if (!more.empty()) where += (where.empty() ? "" : ", ") + more;
    report_.faults.push_back({word_at(line, "what"), std::move(part), script::clean(where)});
  }

  void hang(const json::value& line) {
    BurnHang hang{word_at(line, "part"), word_at(line, "doing"),
                  amount_at(line, "seconds").value_or(0)};
    const auto* late = find(line, "late");
    if (const auto* list = late == nullptr ? nullptr : late->if_array(); list != nullptr)
      for (const auto& each : *list)
        if (each.is_string() && hang.late.size() < kMostGpus)
          hang.late.push_back(script::clean(each.get_string()));
    keep(report_.hangs, std::move(hang), kMostOthers);
  }

  void error(const json::value& line) {
    keep(report_.errors, {word_at(line, "code"), word_at(line, "message")}, kMostOthers);
  }

  void self_test(const json::value& line) {
    keep(report_.self_tests,
         {word_at(line, "planted"), word_at(line, "detail"),
          truth_at(line, "found").value_or(false)},
         kMostOthers);
  }

  void end(const json::value& line) {
    report_.end =
        BurnEnd{amount_at(line, "faults").value_or(0), truth_at(line, "complete").value_or(false),
                truth_at(line, "stopped").value_or(false)};
  }

  using Key = std::tuple<std::string, std::string, std::map<std::string, std::string>>;
  BurnReport& report_;
  std::map<Key, std::size_t> places_{};
};

Error nothing_proven(std::string why) {
  return {Code::kNoMeasurement, "cupel-burn " + std::move(why)};
}

/// What its exit status should have been.
BurnExit expected_exit(const BurnReport& report) {
  if (!report.hangs.empty()) return BurnExit::hang;
  if (report.fault_lines() > 0 || report.end->faults > 0) return BurnExit::fault;
  return BurnExit::well;
}

}  // namespace

double BurnReport::fault_lines() const {
  double sum = 0;
  for (const auto& [part, count] : faults_by_part) sum += count;
  return sum;
}

BurnReport read_burn(std::string_view text) {
  BurnReport report;
  Reader reader{report};
  for (const auto line : lines(text)) reader.read(trimmed(line));
  return report;
}

Result<void> check_whole(const BurnReport& report, int exit_status, std::string_view complaint) {
  if (!report.errors.empty()) {
    const auto& first = report.errors.front();
    return nothing_proven(fmt::format("could not find out ({}): {}",
                                      first.code.empty() ? "no code" : first.code, first.message));
  }
  if (!report.started) return nothing_proven(fmt::format("did not begin: {}", complaint));
  if (report.end && report.end->stopped) return nothing_proven("was stopped before it was through");
  if (!report.end)
    return nothing_proven(fmt::format("did not end: exit status {}, {}", exit_status, complaint));
  if (!report.end->complete) return nothing_proven("says itself that it is not complete");
  if (report.damaged > 0)
    return nothing_proven(fmt::format("printed {} lines that cannot be read", report.damaged));
  if (report.too_much) return nothing_proven("printed more than can be kept");
  if (exit_status != static_cast<int>(expected_exit(report)))
    return nothing_proven(fmt::format(
        "contradicts itself: exit status {} with {} faults and {} hangs reported", exit_status,
        plain(std::max(report.fault_lines(), report.end->faults), 0), report.hangs.size()));
  return ok();
}

}  // namespace cupel::burnin
