// `cupel bmc NODES diagnostics`: what BMCs collect for their vendors, as files.
#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/diagnostic_files.h"
#include "orchestrator/record/codec.h"

namespace cupel::cli {
namespace {

using inventory::Node;

constexpr std::uint64_t kMib = 1u << 20;
constexpr std::uint64_t kMostMib = 64 * 1024;

struct Diagnostics {
  bool list = false;
  std::string type{kUsualDiagnostics};
  std::string folder = ".";
  std::uint64_t limit = 1024;  // MiB
};

Task<Result<Answer>> list_offers(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto offers, co_await bmc.diagnostics.offered(deadline));
  Answer answer{fmt::format("{} log services collect diagnostic data", offers.services.size()), {}};
  boost::json::array all;
  for (const auto& offer : offers.services) {
    answer.text += "\n  " + to_string(offer);
    all.push_back({{"service", offer.service},
                   {"types", boost::json::value_from(offer.types)},
                   {"oem_types", boost::json::value_from(offer.oem_types)}});
  }
  for (const auto& each : offers.unknown)
    answer.text += fmt::format("\n  unknown: {}: {}", printable(each.source), printable(each.why));
  answer.object["offers"] = std::move(all);
  answer.object["unknown"] = record::to_json(offers.unknown);
  co_return answer;
}

std::string lines_of(const Collected& collected, const std::string& folder) {
  std::string text;
  for (const auto& file : collected.files)
    text +=
        fmt::format("\n  {}/{}: {} bytes, SHA-256 {}", folder, file.name, file.bytes, file.sha256);
  return text;
}

Answer answer_of(const Collected& collected, const std::string& folder) {
  boost::json::array files;
  for (const auto& file : collected.files)
    files.push_back({{"file", folder + "/" + file.name},
                     {"bytes", file.bytes},
                     {"sha256", file.sha256},
                     {"service", file.service},
                     {"entry", file.entry}});
  Answer answer{fmt::format("{} files, as the BMC made them: passwords, keys and addresses may be "
                            "in them",
                            collected.files.size()) +
                    lines_of(collected, folder),
                {}};
  answer.object["files"] = std::move(files);
  return answer;
}

Task<Result<Answer>> fetch(bmc::Bmc& bmc, const Node& node, const Diagnostics& asked,
                           Deadline deadline) {
  FilesInFolder folder{asked.folder};
  CO_TRY(const auto collected, co_await collect_diagnostics(bmc, node.name, asked.type,
                                                            asked.limit * kMib, folder, deadline));
  if (collected.failures.empty()) co_return answer_of(collected, asked.folder);
  co_return Error{
      Code::kFailed,
      fmt::format("not all of it came: {}; {} files did:{}", fmt::join(collected.failures, "; "),
                  collected.files.size(), lines_of(collected, asked.folder))};
}

/// The folder is looked at before a BMC works for minutes, and again before each file.
Exit diagnostics(const BmcCommand& command, const Diagnostics& asked) {
  const auto usable = asked.list ? ok() : FilesInFolder{asked.folder}.check();
  if (!usable) return print_error(command.context, usable.error(), Exit::invalid);
  return ask(command, [&asked](bmc::Bmc& bmc, const Node& node, Deadline deadline) {
    return asked.list ? list_offers(bmc, deadline) : fetch(bmc, node, asked, deadline);
  });
}

}  // namespace

CommandRow bmc_diagnostics_command(const BmcCommand& command) {
  auto asked = std::make_shared<Diagnostics>();
  CommandRow row{"diagnostics",
                 "have the BMC collect diagnostic data for its vendor, and fetch the files; they "
                 "may hold secrets"};
  row.options = {
      {"--list",
       &asked->list,
       "only print what the BMC offers; nothing is collected",
       {.excludes = {"--type", "--output", "--limit"}}},
      {"--type", &asked->type, "Manager, PreOS, OS, CPER, CPERSection or OEM:NAME [Manager]"},
      {"-o,--output",
       &asked->folder,
       "the folder for the files, which only their owner may read [.]",
       {.placeholder = "FOLDER"}},
      {"--limit",
       &asked->limit,
       "largest file, in MiB; at most 32 files of a BMC are fetched [1024]",
       {.range = NumberRange{1, kMostMib}}}};
  row.run = [command, asked] { return diagnostics(command, *asked); };
  return row;
}

}  // namespace cupel::cli
