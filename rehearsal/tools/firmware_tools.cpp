#include "rehearsal/tools/firmware_tools.h"

#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/bmc/image.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

/// Of a ConnectX-7 as DGX machines have it.
constexpr std::string_view kPsid = "MT_0000000838";

/// By its name, its PCI address with or without the domain, or its device file.
const Adapter* adapter_named(const Hardware& machine, std::string_view device) {
  const auto name = device.substr(device.rfind('/') + 1);
  for (const auto& adapter : machine.adapters) {
    const bool by_address = !name.empty() && adapter.pci.ends_with(name) && name.contains(':');
    if (adapter.infiniband && (name == adapter.name || by_address)) return &adapter;
  }
  return nullptr;
}

std::string digits_of(std::string text) {
  std::erase(text, ':');
  return text;
}

std::string query_text(const Host& host, const Adapter& adapter) {
  const auto& staged = host.machine().staged_firmware();
  const auto next = staged.find(adapter.name);
  const bool waits = next != staged.end();
  std::string text = "Image type:            FS4\n";
  text += fmt::format("FW Version:            {}\n", waits ? next->second : adapter.firmware);
  if (waits) text += fmt::format("FW Version(Running):   {}\n", adapter.firmware);
  return text + fmt::format(
                    "FW Release Date:       8.11.2023\n"
                    "Product Version:       {}\n"
                    "Description:           UID                GuidsNumber\n"
                    "Base GUID:             {}        4\n"
                    "Base MAC:              {}            4\n"
                    "Image VSD:             N/A\n"
                    "Device VSD:            N/A\n"
                    "PSID:                  {}\n"
                    "Security Attributes:   secure-fw\n",
                    waits ? next->second : adapter.firmware, digits_of(adapter.guid),
                    digits_of(adapter.mac), kPsid);
}

Task<int> fail(ProcessPtr process, std::string why) {
  co_await process->say("-E- " + why + "\n");
  co_return 1;
}

Task<int> burn(ProcessPtr process, Adapter adapter, std::string file, bool sure) {
  const Arguments files{file};
  const auto sources = co_await read_sources(process, "mstflint", files, true);
  if (!sources.good)
    co_return co_await fail(process, "Can not open " + file + ": No such file or directory");
  const auto& bytes = sources.all.front().bytes;
  ImageReader reader;
  reader.take(bytes);
  const std::array<std::string_view, 2> names{adapter.name, "hca"};
  const auto version = version_in(bytes, names);
  if (!version || !damage_of(reader.finish()).empty())
    co_return co_await fail(process, "File: " + file + ", FS4 image is corrupted or not an image.");
  const auto psid = model_in(bytes);
  if (!psid.empty() && psid != kPsid)
    co_return co_await fail(process, fmt::format("PSID mismatch. The PSID on flash ({}) differs "
                                                 "from the PSID in the given image ({}).",
                                                 kPsid, psid));
  auto text = fmt::format(
      "    Current FW version on flash:  {}\n    New FW version:               "
      "{}\n\n",
      adapter.firmware, *version);
  // Without -y it would ask, and nobody answers.
  const bool asks = (*version == adapter.firmware || is_older(*version, adapter.firmware)) && !sure;
  if (asks) {
    co_await process->say(text);
    co_return co_await fail(process,
                            "Burning FS4 image failed: The operation was aborted by the "
                            "user");
  }
  process->host.machine().stage_firmware(adapter.name, *version);
  text +=
      "FSMST_INITIALIZE -   OK\nWriting Boot image component -   OK\n-I- To load new FW run "
      "mlxfwreset or reboot machine.\n";
  co_await process->say(text);
  co_return 0;
}

Task<int> mstflint(ProcessPtr process, Arguments arguments) {
  const auto options =
      parse_options(arguments, "d:i:y", {{"device", 'd'}, {"image", 'i'}, {"yes", 'y'}});
  if (!options.unknown.empty())
    co_return co_await fail(process, "Invalid switch: " + options.unknown);
  const auto what = options.operands.empty() ? std::string{} : options.operands[0];
  const auto* adapter = adapter_named(process->host.machine().hardware(), options.value('d'));
  if (adapter == nullptr)
    co_return co_await fail(process, fmt::format("Cannot open Device: {}. No such file or "
                                                 "directory.",
                                                 options.value('d')));
  if (what == "query" || what == "q") {
    const auto text = query_text(process->host, *adapter);
    co_await process->say(text);
    co_return 0;
  }
  const bool burns = what == "burn" || what == "b";
  if (!burns) co_return co_await fail(process, "Invalid command: " + what);
  const auto file = options.operands.size() > 1 ? options.operands[1] : options.value('i');
  co_return co_await burn(process, *adapter, file, options.has('y'));
}

/// What was burnt runs from now on.
Task<int> mstfwreset(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "d:yl:", {{"device", 'd'}, {"yes", 'y'}});
  const auto* adapter = adapter_named(process->host.machine().hardware(), options.value('d'));
  if (adapter == nullptr)
    co_return co_await fail(process, "Device is not supported: " + options.value('d'));
  const bool resets = std::ranges::find(options.operands, "reset") != options.operands.end();
  if (!resets) co_return co_await fail(process, "the following arguments are required: command");
  process->host.machine().load_staged_firmware(std::string{adapter->name});
  co_await process->say(
      "-I- Sending Reset Command To Fw             -Done\n"
      "-I- FW was loaded successfully.\n");
  co_return 0;
}

constexpr auto kTools = std::to_array<Tool>({{"flint", mstflint},
                                             {"mlxfwreset", mstfwreset},
                                             {"mstflint", mstflint},
                                             {"mstfwreset", mstfwreset}});

}  // namespace

std::span<const Tool> firmware_tools() { return kTools; }

}  // namespace cupel::rehearsal
