#pragma once
// What tests of users' tools share: what the scripts say before a tool begins, and a node whose
// tools are small scripts of the test's own.
#include <sys/stat.h>

#include "base/json.h"
#include "burnin/criteria/judge.h"
#include "burnin/verdict_text.h"
#include "tests/burnin/stages.h"
#include "tests/support/samples.h"

namespace cupel::burnin {

inline std::string nccl_asked(const std::string& bytes = "8589934592",
                              const std::string& operation = "all_reduce",
                              const std::string& nvls = "on") {
  return "cupel-asked-bytes: " + bytes + "\ncupel-operation: " + operation +
         "\ncupel-nvls: " + nvls + "\n";
}

inline std::string burn_asked(const std::string& precision = "tensor") {
  return "cupel-asked-seconds: 10\ncupel-precision: " + precision + "\n";
}

/// As cupel-node sends what a tool of GPUs printed, behind `more` lines of its own.
inline std::string agent_ran(const std::string& stage_name, const std::string& tool,
                             const std::string& out, const std::string& more = "", int status = 0,
                             const std::string& errors = "") {
  const auto quoted = [](const std::string& text) { return json::serialize(json::string(text)); };
  return R"({"kind":"stage","stage":")" + stage_name + R"(","protocol":1})" +
         "\n"
         R"({"kind":"evidence","name":"gpus","part":"","status":0,"cut":false,"out":)" +
         quoted("0, 00000000:1B:00.0\n1, 00000000:43:00.0\n") + "}\n" + more +
         R"({"kind":"evidence","name":")" + tool + R"(","part":"","status":)" +
         std::to_string(status) + R"(,"cut":false,"err":)" + quoted(errors) + R"(,"out":)" +
         quoted(out) +
         "}\n"
         R"({"kind":"done","status":0})"
         "\n";
}
/// The same GPUs as a script of an earlier version names them.
constexpr std::string_view kScriptGpus =
    "cupel-gpu: 0, 00000000:1B:00.0\ncupel-gpu: 1, 00000000:43:00.0\n";

/// As -J writes it, with the words that jsonBool() makes of truth.
inline std::string nccl_json(const std::string& bus, const std::string& wrong) {
  return R"({"version":3,"args":["all_reduce_perf"],"env":[],"nccl_version":22809,"results":[)"
         R"({"size":8589934592,"count":2147483648,"type":"float","redop":"sum","root":"    -1",)"
         R"("out_of_place":{"time":63896.1,"alg_bw":134.4,"bus_bw":)" +
         bus + R"(,"nwrong":)" + wrong +
         R"(},"in_place":{"time":63959.2,"alg_bw":134.3,)"
         R"("bus_bw":470.5,"nwrong":0.000000}}],"out_of_bounds":{"count":0,"okay":"true"},)"
         R"("average_bus_bandwidth":{"bandwidth":68.3,"okay":"true"}})"
         "\n";
}

inline std::string refusal(const Result<Findings>& found) {
  return found ? "nothing was refused" : std::string{found.error().what};
}

/// "gpu3 gpuburn.errors 7 errors, at most 0 errors": what the profile does not accept.
inline std::vector<std::string> not_met(std::string_view stage_name, const Findings& findings,
                                        const std::string& of = "dgx-h100") {
  std::vector<std::string> reported;
  for (const auto& each :
       judge(profile(of), {std::string{stage_name}}, {{std::string{stage_name}, findings}}))
    if (each.met != Met::met)
      reported.push_back(each.part + " " + each.measure + " " + measured_text(each) + ", " +
                         expectation_text(each));
  return reported;
}

/// Programs in a folder of their own, first in PATH.
class FakeTools {
 public:
  void add(const std::string& name, const std::string& script) const {
    const auto path = folder_.path() / name;
    std::ofstream{path} << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
  }
  Output run(std::string_view stage_name, const Parameters& with = {}) const {
    const auto job = *prepared(stage_name, with);
    return run_script(job.script, "PATH=" + folder_.path().string() + ":$PATH\nexport PATH\n");
  }
  std::string folder() const { return folder_.path().string(); }

 private:
  test::TemporaryFolder folder_{};
};

/// An nvidia-smi of eight GPUs where the profile has them, idle and whole.
constexpr std::string_view kIdleSmi = R"sh(case "$*" in
  *index,pci*) i=0
    for bus in 1B 43 52 61 9D C3 D1 DF; do echo "$i, 00000000:$bus:00.0"; i=$((i + 1)); done ;;
  *mig.mode*) for i in 1 2 3 4 5 6 7 8; do echo Disabled; done ;;
  *utilization*)
    for bus in 1B 43 52 61 9D C3 D1 DF; do echo "00000000:$bus:00.0, 0"; done ;;
  *compute-apps*) ;;
  -L) for i in 0 1 2 3 4 5 6 7; do echo "GPU $i: NVIDIA H100"; done ;;
esac)sh";

}  // namespace cupel::burnin
