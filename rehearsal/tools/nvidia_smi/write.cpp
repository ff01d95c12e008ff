#include "rehearsal/tools/nvidia_smi/write.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace cupel::rehearsal {
namespace {

std::string formatted(double seconds, const char* format) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char text[64] = "";
  const auto size = std::strftime(text, sizeof text, format, &parts);
  return {text, size};
}

void add_line(std::string& text, const Row& row) {
  const std::string margin(static_cast<std::size_t>((row.depth + 1 + row.deeper) * 4), ' ');
  if (!row.value) {
    text += margin + row.label + "\n";
    return;
  }
  text += fmt::format("{:<{}}: {}\n", margin + row.label, row.column, *row.value);
}

bool shown(const Row& row, std::span<const Section> sections) {
  return sections.empty() || std::ranges::count(sections, row.section) > 0;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text)
    safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string{c};
  return safe;
}

/// Headings close where the next row is not below them.
void add_elements(std::string& text, std::span<const Row> rows) {
  std::vector<std::pair<int, std::string>> open;
  const auto close_to = [&](int depth) {
    while (!open.empty() && open.back().first >= depth) {
      text += std::string(static_cast<std::size_t>(open.back().first + 2), '\t') + "</" +
              open.back().second + ">\n";
      open.pop_back();
    }
  };
  for (const auto& row : rows) {
    if (row.tag.empty()) continue;
    close_to(row.depth);
    const std::string margin(static_cast<std::size_t>(row.depth + 2), '\t');
    if (!row.value) {
      text += margin + "<" + row.tag + ">\n";
      open.emplace_back(row.depth, row.tag);
      continue;
    }
    text +=
        fmt::format("{0}<{1}>{2}</{1}>\n", margin, row.tag, escaped(row.xml.value_or(*row.value)));
  }
  close_to(0);
}

constexpr std::string_view kRule =
    "+-----------------------------------------+------------------------+----------------------+\n";
constexpr std::string_view kWide =
    "+-----------------------------------------------------------------------------------------+\n";

std::string heading(const DriverView& driver) {
  return asctime_of(driver.now) + "       \n" + std::string{kWide} +
         fmt::format("| NVIDIA-SMI {:<22} Driver Version: {:<14} CUDA Version: {:<9}|\n",
                     driver.library, driver.version, driver.cuda) +
         std::string{kRule} +
         "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. "
         "ECC "
         "|\n"
         "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute "
         "M. "
         "|\n"
         "|                                         |                        |               MIG "
         "M. "
         "|\n"
         "|=========================================+========================+====================="
         "=|\n";
}

std::string gpu_lines(const GpuView& gpu) {
  const auto ecc = gpu.mig    ? std::string{"On"}
                   : !gpu.ecc ? std::string{"Off"}
                              : std::to_string(gpu.volatile_ecc.dram_uncorrected);
  const auto busy = gpu.mig ? std::string{"N/A"} : fmt::format("{}%", gpu.busy);
  return fmt::format("| {:>3}  {:<29}{:>4}  |   {} Off | {:>20} |\n", gpu.index,
                     gpu.product().substr(0, 27), gpu.persistence ? "On" : "Off", gpu.bus_id(),
                     ecc) +
         fmt::format(
             "| N/A {:>4}C    P0     {:>10.0f}W / {:>4.0f}W | {:>7}MiB / {:>6}MiB | {:>7} "
             "{:>12} |\n",
             gpu.celsius, gpu.watts, gpu.limit_watts, gpu.used_mib, gpu.mib(), busy,
             gpu.compute_mode) +
         fmt::format(
             "|                                         |                        | {:>20} |\n",
             gpu.mig ? "Enabled" : "Disabled") +
         std::string{kRule};
}

std::string process_lines(std::span<const GpuView* const> gpus) {
  std::string text = "\n" + std::string{kWide} +
                     "| Processes:                                                              "
                     "                |\n"
                     "|  GPU   GI   CI              PID   Type   Process name                   "
                     "     GPU Memory |\n"
                     "|        ID   ID                                                          "
                     "     Usage      |\n"
                     "|========================================================================="
                     "================|\n";
  bool any = false;
  for (const auto* gpu : gpus)
    for (const auto& process : gpu->processes) {
      any = true;
      text += fmt::format("| {:>4}   N/A  N/A {:>15}      C   {:<34} {:>9}MiB |\n", gpu->index,
                          process.number, process.name.substr(0, 34), process.mib);
    }
  if (!any)
    text +=
        "|  No running processes found                                                      "
        "       |\n";
  return text + std::string{kWide};
}

}  // namespace

std::string asctime_of(double seconds) { return formatted(seconds, "%a %b %e %H:%M:%S %Y"); }

std::string csv_time_of(double seconds) {
  return formatted(seconds, "%Y/%m/%d %H:%M:%S.") +
         fmt::format("{:03.0f}", std::floor((seconds - std::floor(seconds)) * 1000));
}

std::string listing(const DriverView& driver, std::span<const GpuView* const> gpus,
                    std::span<const Section> sections) {
  auto text = fmt::format(
      "\n==============NVSMI LOG==============\n\n{:<55}: {}\n{:<55}: {}\n{:<55}: {}\n\n{:<55}: "
      "{}\n",
      "Timestamp", asctime_of(driver.now), "Driver Version", driver.version, "CUDA Version",
      driver.cuda, "Attached GPUs", driver.gpus.size());
  for (const auto* gpu : gpus) {
    text += "GPU " + gpu->bus_id() + "\n";
    for (const auto& row : gpu_rows(driver, *gpu))
      if (!row.label.empty() && shown(row, sections)) add_line(text, row);
    text += "\n";
  }
  return text;
}

std::string listing_xml(const DriverView& driver, std::span<const GpuView* const> gpus) {
  auto text = fmt::format(
      "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">\n"
      "<nvidia_smi_log>\n\t<timestamp>{}</timestamp>\n\t<driver_version>{}</driver_version>\n"
      "\t<cuda_version>{}</cuda_version>\n\t<attached_gpus>{}</attached_gpus>\n",
      asctime_of(driver.now), driver.version, driver.cuda, driver.gpus.size());
  for (const auto* gpu : gpus) {
    text += fmt::format("\t<gpu id=\"{}\">\n", gpu->bus_id());
    add_elements(text, gpu_rows(driver, *gpu));
    text += "\t</gpu>\n\n";
  }
  return text + "</nvidia_smi_log>\n";
}

std::string summary(const DriverView& driver, std::span<const GpuView* const> gpus) {
  auto text = heading(driver);
  for (const auto* gpu : gpus) text += gpu_lines(*gpu);
  return text + process_lines(gpus);
}

}  // namespace cupel::rehearsal
