// What nvidia-smi tells of a GPU's memory: how much, its errors, its spare rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rehearsal/tools/gpu_view.h"
#include "rehearsal/tools/nvidia_smi/rows.h"

namespace cupel::rehearsal {
namespace {

std::string mib(long value) { return fmt::format("{} MiB", value); }
std::string count(std::uint64_t value) { return std::to_string(value); }

void add_sizes(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  const long reserved = gpu.model.reserved_mib, used = gpu.used_mib, all = gpu.mib();
  rows.section(Section::memory);
  rows.open("FB Memory Usage", "fb_memory_usage");
  rows.leaf("Total", "total", "memory.total [MiB]", mib(all));
  rows.leaf("Reserved", "reserved", "memory.reserved [MiB]", mib(reserved));
  rows.leaf("Used", "used", "memory.used [MiB]", mib(used));
  rows.leaf("Free", "free", "memory.free [MiB]", mib(all - reserved - used));
  rows.close();
  constexpr long kWindow = 131072;
  rows.open("BAR1 Memory Usage", "bar1_memory_usage");
  rows.leaf("Total", "total", "", mib(kWindow));
  rows.leaf("Used", "used", "", mib(used + 1));
  rows.leaf("Free", "free", "", mib(kWindow - used - 1));
  rows.close();
  rows.open("Conf Compute Protected Memory Usage", "cc_protected_memory_usage");
  rows.leaf("Total", "total", "protected_memory.total [MiB]", mib(0));
  rows.leaf("Used", "used", "protected_memory.used [MiB]", mib(0));
  rows.leaf("Free", "free", "protected_memory.free [MiB]", mib(0));
  rows.close();
  rows.section(Section::compute);
  rows.leaf("Compute Mode", "compute_mode", "compute_mode", gpu.compute_mode);
}

void add_utilization(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  const auto per_cent = [&](int value) {
    return gpu.mig ? std::string{"N/A"} : fmt::format("{} %", value);
  };
  rows.section(Section::utilization);
  rows.open("Utilization", "utilization");
  rows.leaf("GPU", "gpu_util", "utilization.gpu [%]", per_cent(gpu.busy));
  rows.leaf("Memory", "memory_util", "utilization.memory [%]", per_cent(gpu.memory_busy));
  rows.leaf("Encoder", "encoder_util", "utilization.encoder [%]", per_cent(0));
  rows.leaf("Decoder", "decoder_util", "utilization.decoder [%]", per_cent(0));
  rows.leaf("JPEG", "jpeg_util", "utilization.jpeg [%]", per_cent(0));
  rows.leaf("OFA", "ofa_util", "utilization.ofa [%]", per_cent(0));
  rows.close();
  rows.section(Section::encoder_stats);
  rows.open("Encoder Stats", "encoder_stats");
  rows.leaf("Active Sessions", "session_count", "encoder.stats.sessionCount", "0");
  rows.leaf("Average FPS", "average_fps", "encoder.stats.averageFps", "0");
  rows.leaf("Average Latency", "average_latency", "encoder.stats.averageLatency", "0");
  rows.close();
  rows.section(Section::fbc_stats);
  rows.open("FBC Stats", "fbc_stats");
  rows.leaf("Active Sessions", "session_count", "", "0");
  rows.leaf("Average FPS", "average_fps", "", "0");
  rows.leaf("Average Latency", "average_latency", "", "0");
  rows.close();
  rows.section(Section::none);
  rows.open("DRAM Encryption Mode", "dram_encryption_mode");
  rows.leaf("Current", "current_dram_encryption", "dramEncryption.mode.current", "N/A");
  rows.leaf("Pending", "pending_dram_encryption", "dramEncryption.mode.pending", "N/A");
  rows.close();
}

/// --query-gpu knows places that no GPU of today counts in.
void add_unsupported_counters(RowWriter& rows, const std::string& kind) {
  for (const auto* place : {"register_file", "l1_cache", "l2_cache", "texture_memory", "cbu"})
    rows.leaf("", "", kind + place, "N/A");
}

void add_counts(RowWriter& rows, const GpuView& gpu, const EccCounts& counts,
                const std::string& period, bool lifetime) {
  const auto reported = [&](std::uint64_t value) {
    return gpu.ecc ? count(value) : std::string{"N/A"};
  };
  const auto corrected = "ecc.errors.corrected." + period + ".";
  const auto uncorrected = "ecc.errors.uncorrected." + period + ".";
  rows.open(lifetime ? "Aggregate" : "Volatile", period);
  rows.leaf("SRAM Correctable", "sram_correctable", corrected + "sram",
            reported(counts.sram_corrected));
  rows.leaf("SRAM Uncorrectable Parity", "sram_uncorrectable_parity", uncorrected + "sram.parity",
            reported(counts.sram_uncorrected));
  rows.leaf("SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", uncorrected + "sram.secded",
            reported(0));
  rows.leaf("DRAM Correctable", "dram_correctable", corrected + "dram",
            reported(counts.dram_corrected));
  rows.leaf("DRAM Uncorrectable", "dram_uncorrectable", uncorrected + "dram",
            reported(counts.dram_uncorrected));
  if (lifetime)
    rows.leaf("SRAM Threshold Exceeded", "sram_threshold_exceeded",
              uncorrected + "sram.thresholdExceeded", gpu.ecc ? "No" : "N/A");
  rows.leaf("", "", corrected + "device_memory", reported(counts.dram_corrected));
  rows.leaf("", "", corrected + "total", reported(counts.dram_corrected + counts.sram_corrected));
  rows.leaf("", "", uncorrected + "device_memory", reported(counts.dram_uncorrected));
  rows.leaf("", "", uncorrected + "sram", reported(counts.sram_uncorrected));
  rows.leaf("", "", uncorrected + "total",
            reported(counts.dram_uncorrected + counts.sram_uncorrected));
  add_unsupported_counters(rows, corrected);
  add_unsupported_counters(rows, uncorrected);
  rows.close();
}

void add_ecc(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  const auto on = [](bool set) { return set ? "Enabled" : "Disabled"; };
  rows.section(Section::ecc);
  rows.open("ECC Mode", "ecc_mode");
  rows.leaf("Current", "current_ecc", "ecc.mode.current", on(gpu.ecc));
  rows.leaf("Pending", "pending_ecc", "ecc.mode.pending", on(gpu.ecc_pending));
  rows.close();
  rows.open("ECC Errors", "ecc_errors");
  add_counts(rows, gpu, gpu.volatile_ecc, "volatile", false);
  add_counts(rows, gpu, gpu.lifetime_ecc, "aggregate", true);
  const std::string sources = "ecc.errors.uncorrected.aggregate.sram.";
  rows.open("Aggregate Uncorrectable SRAM Sources", "aggregate_uncorrectable_sram_sources");
  rows.leaf("SRAM L2", "sram_l2", sources + "l2", "0");
  rows.leaf("SRAM SM", "sram_sm", sources + "sm", "0");
  rows.leaf("SRAM Microcontroller", "sram_microcontroller", sources + "mcu", "0");
  rows.leaf("SRAM PCIE", "sram_pcie", sources + "pcie", "0");
  rows.leaf("SRAM Other", "sram_other", sources + "other", "0");
  rows.close();
  rows.leaf("Channel Repair Pending", "channel_repair_pending", "", "No");
  rows.leaf("TPC Repair Pending", "tpc_repair_pending", "", "No");
  rows.leaf("Unrepairable Memory", "unrepairable_memory", "", gpu.remaps.failed ? "Yes" : "No");
  rows.close();
}

void add_retired_pages(RowWriter& rows, const DriverView&, const GpuView&) {
  rows.section(Section::page_retirement);
  rows.open("Retired Pages", "retired_pages");
  rows.leaf("Single Bit ECC", "", "retired_pages.single_bit_ecc.count", "N/A");
  rows.leaf("Double Bit ECC", "", "retired_pages.double_bit.count", "N/A");
  rows.leaf("Pending Page Blacklist", "", "retired_pages.pending", "N/A");
  for (const auto* kind : {"multiple_single_bit_retirement", "double_bit_retirement"}) {
    rows.open("", kind);
    rows.leaf("", "retired_count", "", "N/A");
    rows.leaf("", "retired_pagelist", "", "N/A");
    rows.close();
  }
  rows.leaf("", "pending_blacklist", "", "N/A");
  rows.leaf("", "pending_retirement", "", "N/A");
  rows.close();
}

void add_remaps(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  const auto yes = [](bool set) { return set ? "Yes" : "No"; };
  const std::string field = "remapped_rows.", tag = "row_remapper_histogram_";
  // A bank has eight spare rows: "high" has lost one, "none" all of them.
  const auto lost = gpu.remaps.correctable + gpu.remaps.uncorrectable;
  const auto none = gpu.remaps.empty_banks, low = gpu.remaps.low_banks;
  const auto high = lost > none * 8 ? std::min<std::uint64_t>(lost - none * 8, 64) : 0;
  const auto banks = static_cast<std::uint64_t>(gpu.model.banks);
  const auto bank = [&](std::string label, const std::string& name, std::uint64_t value) {
    rows.leaf(std::move(label), tag + name, field + "histogram." + name, count(value) + " bank(s)")
        .csv = count(value);
  };
  rows.section(Section::row_remapper);
  rows.open("Remapped Rows", "remapped_rows");
  rows.leaf("Correctable Error", "remapped_row_corr", field + "correctable",
            count(gpu.remaps.correctable));
  rows.leaf("Uncorrectable Error", "remapped_row_unc", field + "uncorrectable",
            count(gpu.remaps.uncorrectable));
  rows.leaf("Pending", "remapped_row_pending", field + "pending", yes(gpu.remaps.pending));
  rows.leaf("Remapping Failure Occurred", "remapped_row_failure", field + "failure",
            yes(gpu.remaps.failed));
  rows.open("Bank Remap Availability Histogram", "row_remapper_histogram");
  bank("Max", "max", banks - std::min(banks, high + low + none));
  bank("High", "high", high);
  bank("Partial", "partial", 0);
  bank("Low", "low", low);
  bank("None", "none", none);
  rows.close();
  rows.close();
}

}  // namespace

std::span<const AddRows> memory_parts() {
  static constexpr std::array<AddRows, 5> kParts{add_sizes, add_utilization, add_ecc,
                                                 add_retired_pages, add_remaps};
  return kParts;
}

}  // namespace cupel::rehearsal
