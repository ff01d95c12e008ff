#pragma once
// A store with one run of two nodes, of which tests make summaries and pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "orchestrator/record/codec.h"
#include "orchestrator/report/summary.h"

namespace cupel::report {

using burnin::Decision;
using engine::Event;
using engine::EventKind;

class Report : public ::testing::Test {
 protected:
  Report() {
    std::string made = (std::filesystem::temp_directory_path() / "cupel-report-XXXXXX").string();
    folder = ::mkdtemp(made.data());
    store = *std::move(store::Store::open(folder));
    store::Run run;
    run.playbook = "new-rack";
    run.nodes = {"a01-n01", "a01-n02"};
    id = *store->begin_run(run);
    add({EventKind::run_started,
         "",
         "",
         {{"site", "lab <&>"},
          {"racks", {{{"name", "a01"}, {"units", 48}}}},
          {"nodes",
           {{{"name", "a01-n01"}, {"profile", "p"}, {"rack", "a01"}, {"unit", 1}, {"height", 8}},
            {{"name", "a01-n02"}, {"profile", "p"}, {"rack", "a01"}, {"unit", 9}, {"height", 8}}}},
          {"steps", {"gpu-facts", "verdict", "hand-off"}}}});
  }
  ~Report() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  void add(Event event) { ASSERT_TRUE(store->append(id, event)); }
  void end(const std::string& node, const std::string& step, boost::json::object data,
           const std::string& outcome = "done") {
    add({EventKind::step_began, node, step});
    data["outcome"] = outcome;
    add({EventKind::step_ended, node, step, std::move(data)});
  }
  static burnin::Verdict bad() {
    return {Decision::fail,
            {{Decision::fail,
              "gpu3",
              "gpu.ecc.uncorrected",
              "2 errors",
              "at most 0 errors",
              std::string(64, 'a'),
              "replace <it>",
              {"gpu-facts", "gpu-facts@after"}}},
            {}};
  }
  static burnin::Verdict good() { return {Decision::pass, {}, {}}; }
  RunSummary summary() { return *std::move(summarize(*store, id)); }

  std::filesystem::path folder;
  std::unique_ptr<store::Store> store;
  engine::RunId id = 0;
};

}  // namespace cupel::report
