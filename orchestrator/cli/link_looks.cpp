#include "orchestrator/cli/link_looks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "burnin/fabric/discovery/ibdiagnet.h"
#include "burnin/fabric/discovery/iblinkinfo.h"
#include "burnin/fabric/discovery/ibnetdiscover.h"
#include "burnin/fabric/discovery/rdma_counters.h"
#include "burnin/fabric/discovery/scan.h"
#include "burnin/fabric/discovery/sonic.h"
#include "burnin/fabric/discovery/ufm_telemetry.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;
using burnin::LinkLook;
using burnin::PortId;

constexpr std::size_t kMostFiles = 100'000;
constexpr std::size_t kLargestReportOfAPort = 1u << 20;

/// The files or folders in it, by name; none where it cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator at{folder, failure}, end; !failure && at != end;
       at.increment(failure))
    if (found.size() < kMostFiles) found.push_back(at->path());
  std::ranges::sort(found);
  return found;
}

/// The first file whose name begins so.
std::optional<fs::path> file_named(const std::vector<fs::path>& files, std::string_view begin) {
  const auto found = std::ranges::find_if(files, [&](const fs::path& file) {
    return file.filename().string().starts_with(begin) && !is_folder(file);
  });
  return found == files.end() ? std::nullopt : std::optional{*found};
}

std::chrono::sys_seconds time_of(const fs::path& file) {
  std::error_code failure;
  const auto time = fs::last_write_time(file, failure);
  if (failure) return {};
  return std::chrono::floor<std::chrono::seconds>(std::chrono::file_clock::to_sys(time));
}

/// ibdiagnet2.db_csv has links, counters and cables in one.
std::optional<fs::path> ibdiagnet_file(const std::vector<fs::path>& files) {
  const auto found = std::ranges::find_if(
      files, [](const fs::path& file) { return file.extension() == ".db_csv"; });
  return found == files.end() ? std::nullopt : std::optional{*found};
}

/// A file with links: ibnetdiscover's, iblinkinfo's, or ibdiagnet's.
Result<inventory::SeenFabric> links_in(const fs::path& folder, const std::vector<fs::path>& files,
                                       const std::optional<burnin::IbdiagnetReport>& ibdiagnet,
                                       LinkLook& look) {
  const auto discovered = file_named(files, "ibnetdiscover");
  const auto file = discovered ? discovered : file_named(files, "iblinkinfo");
  std::error_code failure;
  if (!file && ibdiagnet) return ibdiagnet->seen;
  for (const auto* without_links : {"sonic", "rdma", "ethtool"})
    if (!file && fs::is_directory(folder / without_links, failure)) return inventory::SeenFabric{};
  if (!file)
    return Error{
        Code::kNotFound,
        fmt::format("{}: no output of ibnetdiscover, iblinkinfo or ibdiagnet in it. Save one there "
                    "as ibnetdiscover.txt, iblinkinfo.txt or ibdiagnet2.db_csv; of switches with "
                    "SONiC, STATE_DB as sonic/SWITCH.json; of nodes with RoCE, their counters as "
                    "rdma/NODE.txt",
                    folder.string())};
  TRY(const auto text, read_file(*file, burnin::kLargestReport));
  look.taken = time_of(*file);
  return within(file->string(),
                discovered ? burnin::parse_ibnetdiscover(text) : burnin::parse_iblinkinfo(text));
}

void doubt(LinkLook& look, const fs::path& file, const Error& error) {
  constexpr std::size_t kMostDoubts = 100;
  if (look.doubts.size() < kMostDoubts)
    look.doubts.push_back(
        fmt::format("{}: {}", printable(valid_utf8(file.filename().string())), error.what));
}

void add_counter_files(LinkLook& look, const inventory::SeenFabric& seen,
                       const std::vector<fs::path>& files) {
  if (const auto file = file_named(files, "ibqueryerrors")) {
    const auto text = read_file(*file, burnin::kLargestReport);
    const auto found =
        text ? burnin::parse_ibqueryerrors(*text) : Result<burnin::QueryErrors>{text.error()};
    if (!found) return doubt(look, *file, found.error());
    look.taken = time_of(*file);
    burnin::add_counters(look, *found);
    return;
  }
  const auto file = file_named(files, "ufm-telemetry");
  if (!file) return;
  const auto text = read_file(*file, burnin::kLargestReport);
  const auto found =
      text ? burnin::parse_ufm_telemetry(*text) : Result<burnin::UfmTelemetry>{text.error()};
  if (!found) return doubt(look, *file, found.error());
  look.taken = found->taken;
  burnin::add_telemetry(look, *found, seen);
}

/// "mlx5_3" of n05, "7" of leaf1-r3.
PortId port_of(const std::string& device, const std::string& name) {
  const auto port = number<int>(name);
  return port ? PortId{device, {}, *port} : PortId{device, name, 1};
}

void add_reports(LinkLook& look, const fs::path& folder) {
  std::size_t read = 0;
  for (const auto& device : entries(folder))
    for (const auto& file : entries(device)) {
      if (++read > kMostFiles) return;
      const auto id = port_of(printable(valid_utf8(device.filename().string())),
                              printable(valid_utf8(file.stem().string())));
      const auto text = read_file(file, kLargestReportOfAPort);
      auto report =
          text ? burnin::parse_mlxlink(*text) : Result<burnin::MlxlinkReport>{text.error()};
      if (!report)
        doubt(look, device.filename() / file.filename(), report.error());
      else
        look.reports.insert_or_assign(id, std::move(*report));
    }
}

/// STATE_DB of a switch with SONiC: sonic/leaf1.json.
void add_sonic(LinkLook& look, const fs::path& folder) {
  for (const auto& file : entries(folder)) {
    const auto text = read_file(file, burnin::kLargestReport);
    const auto ports = text ? burnin::parse_sonic_state(*text)
                            : Result<std::vector<burnin::SonicPort>>{text.error()};
    if (!ports) {
      doubt(look, file, ports.error());
      continue;
    }
    if (look.links.empty()) look.taken = std::max(look.taken, time_of(file));
    const auto device = printable(valid_utf8(file.stem().string()));
    for (const auto& port : *ports)
      look.reports.insert_or_assign({device, port.name, 1}, burnin::report_of(port));
  }
}

/// Counters of a node's HCAs: rdma/n05.txt.
void add_rdma(LinkLook& look, const fs::path& folder) {
  for (const auto& file : entries(folder)) {
    const auto text = read_file(file, burnin::kLargestReport);
    const auto found =
        text ? burnin::parse_rdma_counters(*text) : Result<burnin::HostCounters>{text.error()};
    if (!found) {
      doubt(look, file, found.error());
      continue;
    }
    look.taken = std::max(look.taken, time_of(file));
    burnin::add_host_counters(look, printable(valid_utf8(file.stem().string())), *found);
  }
}

/// Counters of the port of an HCA: ethtool/n05/mlx5_3.txt.
void add_ethtool(LinkLook& look, const fs::path& folder) {
  for (const auto& device : entries(folder))
    for (const auto& file : entries(device)) {
      const auto text = read_file(file, kLargestReportOfAPort);
      auto found = text ? burnin::parse_ethtool_counters(*text)
                        : Result<burnin::CounterValues>{text.error()};
      if (!found) {
        doubt(look, device.filename() / file.filename(), found.error());
        continue;
      }
      look.taken = std::max(look.taken, time_of(file));
      burnin::add_host_counters(
          look, printable(valid_utf8(device.filename().string())),
          {{{printable(valid_utf8(file.stem().string())), 1}, *std::move(found)}});
    }
}

Result<std::optional<burnin::IbdiagnetReport>> ibdiagnet_in(const std::vector<fs::path>& files) {
  const auto file = ibdiagnet_file(files);
  if (!file) return std::optional<burnin::IbdiagnetReport>{};
  TRY(const auto text, read_file(*file, burnin::kLargestReport));
  TRY(auto found, within(file->string(), burnin::parse_ibdiagnet(text)));
  return std::optional{std::move(found)};
}

}  // namespace

Result<LinkLook> read_look(const fs::path& folder) {
  LinkLook look;
  const auto files = entries(folder);
  TRY(const auto ibdiagnet, ibdiagnet_in(files));
  TRY(const auto seen, links_in(folder, files, ibdiagnet, look));
  if (ibdiagnet && look.taken == std::chrono::sys_seconds{})
    look.taken = time_of(*ibdiagnet_file(files));
  burnin::add_links(look, seen);
  add_counter_files(look, seen, files);
  add_reports(look, folder / "mlxlink");
  if (ibdiagnet) burnin::add_ibdiagnet(look, *ibdiagnet);
  add_rdma(look, folder / "rdma");
  add_ethtool(look, folder / "ethtool");
  add_sonic(look, folder / "sonic");
  return look;
}

}  // namespace cupel::cli
