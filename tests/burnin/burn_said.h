#pragma once
// What a node says of a stage that runs cupel-burn, written by hand, part by part, so that a test
// changes one of them.
#include <fmt/format.h>

#include <functional>
#include <map>

#include "burnin/criteria/judge.h"
#include "burnin/verdict_text.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {

inline constexpr std::array kBuses{"1b", "43", "52", "61", "9d", "c3", "d1", "df"};

struct BurnText {
  std::string command = "gemm";
  std::vector<int> gpus{0, 1, 2, 3, 4, 5, 6, 7};  // places of those that CUDA sees
  std::size_t installed = kBuses.size();          // of those places, from the first on
  std::string apps{};
  std::string busy = "no";
  std::string self_test =
      R"({"kind":"self-test","planted":"result-bit","found":true,"detail":"8 of 8"})";
  int self_test_status = 0;
  std::string lines{};  // of the run, between its start and its end
  std::string end = R"({"kind":"end","seconds":60.1,"faults":0,"complete":true,"stopped":false})";
  int status = 0;
  std::string types = "bf16,fp8";  // as a gemm is asked
  std::string kernel{};
  int celsius = 66;
  std::string reasons = "0x0000000000000004";
  std::string power = "688.20, 700.00, 1755";     // drawn, limit, MHz
  std::map<std::string, std::string> power_of{};  // by bus: of one that differs

  std::string start() const {
    std::string list;
    for (std::size_t i = 0; i < gpus.size(); ++i)
      list += fmt::format(R"({}{{"index":{},"uuid":"GPU-{}","pci":"0000:{}:00.0","name":"H100"}})",
                          i == 0 ? "" : ",", i, gpus[i], kBuses.at(gpus[i]));
    return fmt::format(
        R"({{"kind":"start","program":"cupel-burn","version":"0.1.0","protocol":1,"command":"{}",)"
        R"("cuda":"13.0","driver":"580.65.06","gpus":[{}],"parameters":{{}}}})",
        command, list);
  }

  std::string gpus_text() const {
    std::string all;
    for (const auto* bus : std::span{kBuses}.first(installed))
      all += fmt::format("00000000:{}:00.0, 0\n", bus);
    return all;
  }
  std::string samples_text() const {
    std::string all;
    for (const auto* bus : std::span{kBuses}.first(installed)) {
      const auto own = power_of.find(bus);
      all += fmt::format("00000000:{}:00.0, {}, 70, {}, {}\n", bus, celsius, reasons,
                         own == power_of.end() ? power : own->second);
    }
    return all;
  }
  std::string self_test_text() const {
    return start() + "\n" + self_test + "\n" +
           R"({"kind":"end","seconds":2,"faults":0,"complete":true,"stopped":false})"
           "\n";
  }
  std::string run_text() const {
    return start() + "\n" + R"({"kind":"progress","seconds":10,"of":60,"round":17,"doing":"x"})" +
           "\n" + lines + end + "\n";
  }

  /// As a script of an earlier version printed it.
  std::string text() const {
    std::string all = "cupel-asked-seconds: 60\n";
    if (command == "gemm") all += "cupel-arguments: --seconds 60 --types " + types + "\n";
    all += "cupel-section: gpus\n" + gpus_text() + "cupel-section: apps\n" + apps +
           "cupel-busy: " + busy + "\n";
    if (busy == "yes") return all;
    all += "cupel-kernel-before: [   12.500000\ncupel-section: self-test\n" + self_test_text() +
           fmt::format("cupel-self-test-status: {}\n", self_test_status);
    if (self_test_status == 0)
      all += "cupel-section: run\n" + run_text() + fmt::format("cupel-run-status: {}\n", status);
    return all + "cupel-section: samples\n" + (self_test_status == 0 ? samples_text() : "") +
           "cupel-section: kernel\ncupel-kernel-log: told\n" + kernel + "cupel-section: end\n";
  }

  Result<Findings> read() const { return parsed(command, text()); }
};

inline std::string result(std::string_view name, std::string_view part, double value,
                          std::string_view unit, std::string_view labels = "{}") {
  return fmt::format(
      R"({{"kind":"result","name":"{}","part":"{}","value":{},"unit":"{}","labels":{},"count":9}})"
      "\n",
      name, part, value, unit, labels);
}

inline constexpr std::string_view kFault =
    R"({"kind":"fault","what":"wrong-result","part":"gpu4","sm":17,"round":3,"celsius":71,)"
    R"("detail":"the checksum differs"})"
    "\n";

/// As a healthy node's gemm.
inline BurnText good(std::vector<int> gpus = {0, 1, 2, 3, 4, 5, 6, 7}) {
  BurnText burn;
  burn.gpus = std::move(gpus);
  for (std::size_t i = 0; i < burn.gpus.size(); ++i) {
    const auto part = fmt::format("gpu{}", i);
    burn.lines += result("gemm.rate", part, 700.0 + burn.gpus[i], "TFLOP/s", R"({"type":"bf16"})");
    burn.lines += result("gemm.rate", part, 1400, "TFLOP/s", R"({"type":"fp8"})");
    burn.lines += result("gemm.errors", part, 0, "errors");
    burn.lines += result("gemm.spread", part, 0.8, "%");
  }
  return burn;
}

inline std::string traced(const Findings& findings, std::string_view name, std::string_view part) {
  for (const auto& each : findings.measurements)
    if (each.name == name && each.part == part) return each.traced_to;
  return {};
}

inline std::string missed(std::string_view stage_name, const Findings& findings) {
  std::string text;
  const std::string name{stage_name};
  for (const auto& each : judge(profile(), {name}, {{name, findings}}))
    if (each.met != Met::met)
      text += each.part + " " + each.measure + " " + measured_text(each) + "\n";
  return text;
}

/// All ordered pairs, each with that rate.
inline std::string pairs(const std::function<double(int, int)>& rate) {
  std::string lines;
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 8; ++k) {
      if (i == k) continue;
      const auto part = fmt::format("gpu{}-gpu{}", i, k);
      const double value = rate(i, k);
      lines += result("p2p.refused", part, value > 0 ? 0 : 1, "count");
      if (value <= 0) continue;
      lines += result("p2p.errors", part, 0, "errors");
      lines += result("p2p.bandwidth", part, value, "GB/s", R"({"engine":"ce","pairs":"one"})");
    }
  return lines;
}

}  // namespace cupel::burnin
