#include "burnin/node/watch.h"

#include <fmt/format.h>

#include <array>

#include "burnin/node/watch_report.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

/// No tool of its own: whoever can't run it has nothing to tell.
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::string_view kProgram = "cupel-node";

constexpr std::array kWatchParameters{
    ParameterRow{"duration", ParameterRow::Kind::duration, "how long to watch", "5m", {}, 1, kWeek},
    ParameterRow{
        "every", ParameterRow::Kind::duration, "between two samples", "1s", {}, 1, kMinute}};

Result<Job> prepare_facts(const Profile&, const Parameters&) {
  return Job{script::head() + script::needs(kProgram) + "cupel-node facts\n", seconds{5},
             seconds{180}};
}

Result<Findings> parse_facts(const Profile& profile, const Output& output) {
  TRY(script::check_gave_up(output));
  return read_facts(profile, output.text);
}

/// All samples are in the sum; some two hundred of them are printed, as a curve for people, and
/// each around a fault: less than 2 MB in all.
Result<Job> prepare_watch(const Profile&, const Parameters& parameters) {
  constexpr std::int64_t kPrinted = 200, kLeast = 10;
  TRY(const auto duration, duration_parameter(kWatchParameters, parameters, "duration"));
  TRY(const auto every, duration_parameter(kWatchParameters, parameters, "every"));
  const auto print =
      std::max({std::int64_t{duration.count() / kPrinted}, kLeast, std::int64_t{every.count()}});
  const auto line = fmt::format("cupel-node watch --seconds {} --every {} --print {}\n",
                                duration.count(), every.count(), print);
  return Job{script::head() + script::needs(kProgram) + line, duration + seconds{2},
             duration + duration / 4 + seconds{300}};
}

Result<Findings> parse_watch(const Profile& profile, const Output& output) {
  TRY(script::check_gave_up(output));
  return read_watch(profile, output.text);
}

}  // namespace

Stage facts() {
  Stage row{"facts",
            "read what the node is made of, down to each PCIe link (cupel-node)",
            {},
            prepare_facts,
            parse_facts,
            facts_measures(),
            {0.05, 0, "opening the driver takes each GPU out of its deepest idle state"},
            kPrograms};
  row.lists = Lists::parts;
  return row;
}

Stage watch() {
  return {"watch",
          "sample heat, power, clocks, links and the kernel's log for a while (cupel-node)",
          kWatchParameters,
          prepare_watch,
          parse_watch,
          watch_measures(),
          {0.05, 0, "reads counters once a second; what else runs has its own share"},
          kPrograms};
}

}  // namespace cupel::burnin
