// nvidia-smi's command line.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/nvidia_smi.h"
#include "rehearsal/tools/nvidia_smi/links.h"
#include "rehearsal/tools/nvidia_smi/monitor.h"
#include "rehearsal/tools/nvidia_smi/query.h"
#include "rehearsal/tools/nvidia_smi/settings.h"
#include "rehearsal/tools/nvidia_smi/write.h"

namespace cupel::rehearsal {
namespace {

using Chosen = std::vector<const GpuView*>;

/// What one run of nvidia-smi prints, and how it ends.
struct SmiReply {
  std::string text{};
  int status = 0;
};

// Return values: nvidia-smi(1), "RETURN VALUE".
constexpr int kInvalidArgument = 2, kNotFound = 6, kNotLoaded = 9, kMismatch = 18, kOther = 255;

SmiReply not_recognized(std::string_view word) {
  return {fmt::format("ERROR: Option {} is not recognized. Please run 'nvidia-smi -h'.\n", word),
          kInvalidArgument};
}

SmiReply invalid_combination() {
  return {"Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n",
          kInvalidArgument};
}

struct Request {
  bool query = false, xml = false, list = false, version = false;
  std::vector<Section> sections{};
  std::string of{}, fields{}, id{};  // `of`: "gpu" of --query-gpu
  std::optional<std::string> format{};
  std::vector<Setting> settings{};
  std::optional<double> every{};
  std::optional<SmiReply> wrong{};
};

constexpr auto kSections = std::to_array<std::pair<std::string_view, Section>>({
    {"MEMORY", Section::memory},
    {"UTILIZATION", Section::utilization},
    {"ECC", Section::ecc},
    {"TEMPERATURE", Section::temperature},
    {"POWER", Section::power},
    {"CLOCK", Section::clock},
    {"COMPUTE", Section::compute},
    {"PIDS", Section::pids},
    {"PERFORMANCE", Section::performance},
    {"PAGE_RETIREMENT", Section::page_retirement},
    {"ACCOUNTING", Section::accounting},
    {"ENCODER_STATS", Section::encoder_stats},
    {"FBC_STATS", Section::fbc_stats},
    {"ROW_REMAPPER", Section::row_remapper},
    {"GSP_FIRMWARE_VERSION", Section::gsp},
    {"POWER_SMOOTHING", Section::power_smoothing},
    {"POWER_PROFILES", Section::power_profiles},
});

void read_sections(std::string_view names, Request& request) {
  for (const auto name : split(names, ',')) {
    auto requested = std::string{trimmed(name)};
    for (char& c : requested) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const auto* found =
        std::ranges::find(kSections, requested, &std::pair<std::string_view, Section>::first);
    if (found == kSections.end())
      request.wrong = SmiReply{fmt::format("ERROR: Invalid display type \"{}\".\n", trimmed(name)),
                               kInvalidArgument};
    else
      request.sections.push_back(found->second);
  }
}

/// Options with a value: "-i 3", "--id=3" and "-i=3" are one.
void read_valued(std::string_view name, const std::string& value, Request& request) {
  constexpr std::string_view kQuery = "--query-";
  if (name == "-i" || name == "--id") request.id = value;
  if (name == "-d" || name == "--display") read_sections(value, request);
  if (name == "--format") request.format = value;
  if (name == "-l" || name == "--loop") request.every = number<double>(value).value_or(5);
  if (name == "-lms" || name == "--loop-ms")
    request.every = number<double>(value).value_or(5000) / 1000;
  if (!name.starts_with(kQuery)) return;
  request.of = name.substr(kQuery.size());
  request.fields = value;
}

bool takes_value(std::string_view name) {
  constexpr std::array<std::string_view, 14> kValued{"-i",
                                                     "--id",
                                                     "-d",
                                                     "--display",
                                                     "--format",
                                                     "-l",
                                                     "--loop",
                                                     "-lms",
                                                     "--loop-ms",
                                                     "--query-gpu",
                                                     "--query-compute-apps",
                                                     "--query-accounted-apps",
                                                     "--query-remapped-rows",
                                                     "--query-retired-pages"};
  return std::ranges::find(kValued, name) != kValued.end();
}

Request read_request(const Arguments& arguments) {
  Request request;
  for (std::size_t i = 1; i < arguments.size() && !request.wrong; ++i) {
    const std::string_view word = arguments[i];
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    std::optional<std::string> joined;
    if (equals != word.npos) joined = word.substr(equals + 1);
    const auto* setting = setting_option(name);
    const bool valued = takes_value(name) || (setting != nullptr && setting->valued);
    const bool follows = valued && !joined && i + 1 < arguments.size();
    const auto value = joined.value_or(follows ? arguments[i + 1] : std::string{});
    if (follows) ++i;
    if (valued && !joined && !follows)
      request.wrong =
          SmiReply{fmt::format("ERROR: Option {} needs an argument.\n", name), kInvalidArgument};
    else if (setting != nullptr)
      request.settings.push_back({setting->what, value});
    else if (valued)
      read_valued(name, value, request);
    else if (word == "-q" || word == "--query")
      request.query = true;
    else if (word == "-x" || word == "--xml-format")
      request.xml = true;
    else if (word == "-L" || word == "--list-gpus")
      request.list = true;
    else if (word == "--version")
      request.version = true;
    else if (word == "-qx" || word == "-xq")
      request.query = request.xml = true;
    else
      request.wrong = not_recognized(word);
  }
  return request;
}

/// A number, a UUID, a serial number or a PCI address; several with commas.
bool is_named(const GpuView& gpu, std::string_view ids) {
  if (ids.empty()) return true;
  for (const auto one : split(ids, ',')) {
    const auto id = lower_case(trimmed(one));
    const bool named = number<int>(id) == gpu.index || lower_case(gpu.part.uuid) == id ||
                       gpu.part.serial == id ||
                       (id.size() >= 7 && lower_case(gpu.bus_id()).ends_with(id));
    if (named) return true;
  }
  return false;
}

SmiReply lost(const GpuView& gpu) {
  return {fmt::format("Unable to determine the device handle for GPU{}: Unknown Error\n",
                      gpu.bus_id().substr(4)),
          kOther};
}

std::string listed(const GpuView& gpu) {
  return fmt::format("GPU {}: {} (UUID: {})\n", gpu.index, gpu.product(), gpu.part.uuid);
}

SmiReply change_all(Host& host, const Chosen& gpus, const Request& request) {
  SmiReply reply;
  for (const auto& setting : request.settings)
    for (const auto* gpu : gpus) {
      auto changed = change(host, *gpu, setting);
      reply.text += changed.text;
      if (changed.status != 0) return {reply.text, changed.status};
    }
  reply.text += "All done.\n";
  return reply;
}

SmiReply answer_query(const DriverView& driver, const Chosen& gpus, const Request& request) {
  const auto format = read_format(request.format.value_or(""));
  if (!format) return {format.error().what, kInvalidArgument};
  const auto text = request.of == "gpu"
                        ? query_gpus(driver, gpus, request.fields, *format)
                        : query_other(request.of, driver, gpus, request.fields, *format);
  if (!text) return {text.error().what, kInvalidArgument};
  return {*text};
}

/// Nothing where the driver can be asked.
std::optional<SmiReply> driver_fault(const DriverView& driver) {
  if (!driver.loaded)
    return SmiReply{
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make "
        "sure that the latest NVIDIA driver is installed and running.\n\n",
        kNotLoaded};
  if (driver.library != driver.version)
    return SmiReply{fmt::format("Failed to initialize NVML: Driver/library version mismatch\nNVML "
                                "library version: {}\n",
                                driver.library.substr(0, driver.library.rfind('.'))),
                    kMismatch};
  if (driver.gpus.empty()) return SmiReply{"No devices were found\n", kNotFound};
  return std::nullopt;
}

std::string versions(const DriverView& driver) {
  return fmt::format(
      "NVIDIA-SMI version  : {}\nNVML version        : {}\nDRIVER version      : {}\nCUDA Version  "
      "      : {}\n",
      driver.library, driver.library.substr(0, driver.library.rfind('.')), driver.version,
      driver.cuda);
}

/// Behind what was asked for, whatever that was.
std::string inforom_warnings(const Chosen& gpus) {
  std::string text;
  for (const auto* gpu : gpus)
    if (!gpu->inforom_valid)
      text += fmt::format("WARNING: infoROM is corrupted at gpu {}\n", gpu->bus_id().substr(4));
  return text;
}

SmiReply answer(Host& host, const Request& request) {
  if (request.wrong) return *request.wrong;
  const auto driver = look_at_gpus(host);
  if (auto fault = driver_fault(driver)) return std::move(*fault);
  if (request.version) return {versions(driver)};
  Chosen gpus;
  for (const auto& gpu : driver.gpus)
    if (is_named(gpu, request.id)) gpus.push_back(&gpu);
  if (gpus.empty()) return {"No devices were found\n", kNotFound};
  for (const auto* gpu : gpus)
    if (gpu->lost) return lost(*gpu);
  if (!request.settings.empty()) return change_all(host, gpus, request);
  if (!request.of.empty()) return answer_query(driver, gpus, request);
  if (request.list) {
    SmiReply reply;
    for (const auto* gpu : gpus) reply.text += listed(*gpu);
    return reply;
  }
  if (request.format || (request.xml && !request.query) ||
      (request.xml && !request.sections.empty()))
    return invalid_combination();
  const auto warnings = inforom_warnings(gpus);
  if (request.query && request.xml) return {listing_xml(driver, gpus) + warnings};
  if (request.query) return {listing(driver, gpus, request.sections) + warnings};
  return {summary(driver, gpus) + warnings};
}

/// `nvlink`, `topo` and `mig`: the word, then its own options.
SmiReply answer_about(Host& host, const Arguments& arguments) {
  const auto& what = arguments[1];
  const auto driver = look_at_gpus(host);
  if (auto fault = driver_fault(driver)) return std::move(*fault);
  std::string id, act;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (word == "-i" && i + 1 < arguments.size())
      id = arguments[++i];
    else if (act.empty())
      act = word;
    else
      return not_recognized(word);
  }
  if (what == "topo")
    return act == "-m" || act == "--matrix" ? SmiReply{topology(driver, host.machine().hardware())}
                                            : not_recognized(act);
  SmiReply reply;
  for (const auto& gpu : driver.gpus) {
    if (!is_named(gpu, id)) continue;
    if (gpu.lost) return {reply.text + lost(gpu).text, kOther};
    if (act == "-s" || act == "--status")
      reply.text += link_status(gpu);
    else if (act == "-e" || act == "--errorcounters")
      reply.text += link_errors(gpu);
    else if (act == "-c" || act == "--capabilities")
      reply.text += link_capabilities(gpu);
    else if (act == "-re" || act == "--reseterrorcounters") {
      auto& cleared = host.gpus().cleared(gpu.part.name).nvlink_crc;
      for (int link = 0; link < static_cast<int>(gpu.links.size()); ++link)
        cleared[link] = host.machine().physics().nvlink_crc(gpu.part.index, link);
      reply.text += listed(gpu);
    } else {
      return not_recognized(act);
    }
  }
  return reply;
}

/// No instance is ever made here: MIG that was left on has none.
SmiReply instances(Host& host, const Arguments& arguments) {
  const auto driver = look_at_gpus(host);
  if (auto fault = driver_fault(driver)) return std::move(*fault);
  const auto act = arguments.size() > 2 ? arguments[2] : std::string{};
  if (act != "-lgi" && act != "-lci" && act != "-lgip") return not_recognized(act);
  const bool any = std::ranges::any_of(driver.gpus, &GpuView::mig);
  if (!any) return {"No MIG-enabled devices found.\n", kNotFound};
  return {act == "-lgi" ? "No GPU instances found: Not Found\n"
                        : "No compute instances found: Not Found\n",
          kNotFound};
}

}  // namespace

Task<int> nvidia_smi(ProcessPtr process, Arguments arguments) {
  const auto what = arguments.size() > 1 ? arguments[1] : std::string{};
  if (what == "dmon") co_return co_await device_monitor(process, std::move(arguments));
  if (what == "pmon") co_return co_await process_monitor(process, std::move(arguments));
  if (what == "nvlink" || what == "topo" || what == "mig") {
    const auto reply = what == "mig" ? instances(process->host, arguments)
                                     : answer_about(process->host, arguments);
    co_await process->say(reply.text);
    co_return reply.status;
  }
  const auto request = read_request(arguments);
  for (;;) {
    const auto reply = answer(process->host, request);
    const int error = co_await process->write(1, reply.text);
    if (!request.every || reply.status != 0 || error != 0) co_return reply.status;
    co_await process->sleep(VirtualTime{*request.every});
    if (process->interrupted()) co_return 128 + process->fatal();
  }
}

}  // namespace cupel::rehearsal
