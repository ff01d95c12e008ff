// `cupel baseline floor`: the oldest versions that are safe to run, and the advisories that raise
// them. Files alone: no machine and no server is asked.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "base/file.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/csaf.h"
#include "inventory/read_security_floor.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/say.h"

namespace cupel::cli {
namespace {

using inventory::SecurityFloor;

constexpr std::size_t kLargestAdvisory = 16u << 20, kMostShown = 20;

struct FloorOptions {
  std::string file{}, floor{}, out{};
  inventory::FloorChoice choice{};
};

/// The shipped one where none is named.
OrExit<SecurityFloor> floor_or_exit(const Context& context, const std::string& file) {
  if (file.empty()) return inventory::shipped_floor();
  std::vector<inventory::Problem> problems;
  auto floor = inventory::load_floor(file, problems);
  if (!floor) return print_error(context, problems);
  return *std::move(floor);
}

boost::json::array to_json(const std::vector<inventory::FloorRow>& rows) {
  boost::json::array all;
  for (const auto& row : rows)
    all.push_back({{"component", row.component},
                   {"branch", row.branch},
                   {"at_least", row.at_least},
                   {"models", boost::json::array(row.models.begin(), row.models.end())},
                   {"advisory", row.advisory},
                   {"date", row.date},
                   {"source", row.source}});
  return all;
}

Exit show(const Context& context, const std::string& file) {
  TRY(const auto floor, floor_or_exit(context, file));
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"floor", to_json(floor.rows)}}));
  else
    say("{}", inventory::to_yaml(floor));
  return Exit::passed;
}

/// What of an advisory becomes rows.
struct Taken {
  inventory::Advisory advisory{};
  inventory::FloorImport import{};
};

std::string first_of(const std::vector<std::string>& all) {
  const auto shown = std::span{all}.first(std::min(all.size(), kMostShown));
  return fmt::format(
      "{}{}", fmt::join(shown, ", "),
      all.size() > kMostShown ? fmt::format(" and {} more", all.size() - kMostShown) : "");
}

Result<Taken> take(const FloorOptions& options) {
  const auto& component = options.choice.component;
  if (!component.empty() && inventory::floor_component(component) == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& each : inventory::floor_components()) names.push_back(each.name);
    return Error{Code::kInvalid, fmt::format("--component {} is none of {}", printable(component),
                                             fmt::join(names, ", "))};
  }
  // Each kind of BMC has versions of its own.
  if ((component == "bmc" || component == "bios") && options.choice.models.empty())
    return Error{Code::kInvalid,
                 fmt::format("--component {0} needs --model with a pattern of its model, such as "
                             "--model 'iLO 6'",
                             component)};
  TRY(const auto text, read_trusted_file(options.file, kLargestAdvisory));
  auto advisory = inventory::parse_csaf(text);
  if (!advisory) return std::move(advisory).error().within(printable(options.file));
  Taken taken{.advisory = *std::move(advisory)};
  taken.import = inventory::floor_rows(taken.advisory, options.choice);
  if (!taken.import.rows.empty() || !taken.import.unfixed.empty()) return taken;
  std::string why = "it names no fixed version";
  if (!taken.import.left_out.empty())
    why = fmt::format(
        "its products are of no component that is known: {}; say of which, with "
        "--component and --product",
        first_of(taken.import.left_out));
  else if (!taken.advisory.without_fix.empty())
    why = fmt::format("it names no fixed version of {}", first_of(taken.advisory.without_fix));
  return Error{Code::kInvalid,
               fmt::format("{}: nothing to take in: {}", printable(options.file), why)};
}

/// What a person needs to know beside the rows.
void say_taken(std::FILE* to, const Taken& taken, const inventory::FloorMerge& merge) {
  const auto& advisory = taken.advisory;
  say(to, "{} {}, {}: {}\n", advisory.publisher, advisory.id, advisory.date, advisory.title);
  for (const auto& each : merge.changes) say(to, "  {}\n", each);
  if (!taken.import.left_out.empty())
    say(to, "  {} left out: {}\n", taken.import.left_out.size(), first_of(taken.import.left_out));
  if (!advisory.without_fix.empty())
    say(to, "  {} affected without a fix: {}\n", advisory.without_fix.size(),
        first_of(advisory.without_fix));
}

boost::json::array texts(const std::vector<std::string>& all) {
  return boost::json::array(all.begin(), all.end());
}

Exit take_in(const Context& context, const FloorOptions& options) {
  auto taken = take(options);
  if (!taken) return print_error(context, taken.error(), Exit::invalid);
  TRY(auto floor, floor_or_exit(context, options.floor));
  const auto merge = inventory::merged(std::move(floor), taken->import);
  auto& left_out = taken->import.left_out;
  left_out.insert(left_out.end(), merge.left_out.begin(), merge.left_out.end());
  const auto yaml = inventory::to_yaml(merge.floor);
  // What its own reader refuses is not written.
  std::vector<inventory::Problem> problems;
  if (!inventory::parse_floor(yaml, "the raised floor", problems))
    return print_error(context, problems);
  // One that a site has written is not lost to the shipped one.
  if (!options.out.empty() && options.out != options.floor && is_there(options.out))
    return print_error(
        context,
        Error{Code::kConflict,
              fmt::format("there is a file {} already: to raise the floor in it, name "
                          "the same file with --floor and --out",
                          printable(options.out))},
        Exit::invalid);
  if (!options.out.empty()) {
    const auto written = write_file(options.out, yaml, kReadableByAll);
    if (!written) return print_error(context, written.error(), Exit::unfinished);
  }
  if (context.json) {
    say("{}\n", boost::json::serialize(
                    boost::json::object{{"advisory", taken->advisory.id},
                                        {"date", taken->advisory.date},
                                        {"changes", texts(merge.changes)},
                                        {"left_out", texts(taken->import.left_out)},
                                        {"without_fix", texts(taken->advisory.without_fix)},
                                        {"floor", to_json(merge.floor.rows)}}));
    return Exit::passed;
  }
  say_taken(options.out.empty() ? stderr : stdout, *taken, merge);
  if (options.out.empty()) say("{}", yaml);
  return Exit::passed;
}

CommandRow import_row(Context& context) {
  auto options = std::make_shared<FloorOptions>();
  CommandRow row{"import", "raise the floor by an advisory, a CSAF 2.0 file"};
  row.options = {{"FILE", &options->file, "the advisory, as its vendor publishes it", kRequired},
                 {"--floor", &options->floor, "the floor that is raised [the shipped one]"},
                 {"--out", &options->out, "write the raised floor to this file [print it]"},
                 {"--component", &options->choice.component,
                  "what its products are: driver, connectx, bmc, ... [as their names say]"},
                 {"--product",
                  &options->choice.product,
                  "a pattern of the products that are meant, such as '*iDRAC9*' [all]",
                  {.needs = {"--component"}}},
                 {"--model",
                  &options->choice.models,
                  "a pattern of the part's model that the rows are for [any]",
                  {.repeatable = true, .needs = {"--component"}}},
                 json_flag(context)};
  row.run = [&context, options] { return take_in(context, *options); };
  return row;
}

CommandRow show_row(Context& context) {
  auto file = std::make_shared<std::string>();
  CommandRow row{"show", "print a floor, or all errors in it"};
  row.options = {{"FILE", file.get(), "a site's own [the shipped one]"}, json_flag(context)};
  row.run = [&context, file] { return show(context, *file); };
  return row;
}

}  // namespace

CommandRow baseline_command(Context& context) {
  CommandRow floor{"floor", "the oldest versions that are safe to run"};
  floor.footer =
      "Examples: cupel baseline floor show\n"
      "          cupel baseline floor import 5821.json --out floor.yaml\n"
      "          cupel baseline floor import 5850.json --floor floor.yaml --out floor.yaml\n"
      "The inventory names the file: security_floor: {file: floor.yaml, policy: fail}\n"
      "Exit codes: 0 done, 2 the input is wrong (nothing was written), 3 the file could not be\n"
      "            written.";
  floor.subcommands = {show_row(context), import_row(context)};
  CommandRow row{"baseline", "versions that machines are held against"};
  row.subcommands = {floor};
  return row;
}

}  // namespace cupel::cli
