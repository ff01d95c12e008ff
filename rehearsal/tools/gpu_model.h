#pragma once
// What the driver tells of a GPU because of its model alone: device numbers, limits, links. Not
// what one board is like: that is Hardware; nor what it does now: that is physics.
// Source: `nvidia-smi -q` of H100 80GB HBM3 and H200 (driver 590.48.01) and A100-SXM4-80GB
// (535.54); rates: nvbandwidth's README (A100), stas00/ml-engineering (H200: 55.43, 396.40, NVLS
// 482 and rings 366), Azure/azurehpc-health-checks and nccl-tests logs of A100 (235).
#include <string>
#include <string_view>

namespace cupel::rehearsal {

struct GpuModel {
  std::string_view model;  // as Hardware names it, without "NVIDIA"
  std::string_view architecture, compute;
  std::string_view device, subsystem;  // "2330", "16C1": of vendor 10DE
  std::string_view board_part, gpu_part, image;
  std::string_view pci_name;   // as pci.ids has it
  int links;                   // of NVLink
  std::string_view link_rate;  // GB/s of one, as `nvidia-smi nvlink -s` writes it
  int sms;
  int max_sm_mhz, memory_mhz, idle_video_mhz, max_video_mhz;
  double min_watts, default_watts;
  int limit_celsius;  // where the margin "T.Limit" is nought
  int reserved_mib;
  int banks;  // that can remap rows
  // What a healthy one reaches; GB/s. All-reduce is bus bandwidth over eight, in the switches
  // (NVLS) and by rings; gather likewise.
  double pcie_rate, p2p_rate, memory_rate, switch_rate, ring_rate, gather_rate;
};

/// The row of that model; the H100's for one that has none.
const GpuModel& gpu_model(std::string_view model);

}  // namespace cupel::rehearsal
