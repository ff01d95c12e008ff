#pragma once
// What the scripts of the host's stages print on a small machine: stress-ng's and nvidia-smi's
// lines as captured, the kernel's as its files have them.
#include <fmt/format.h>

#include <string>

namespace cupel::burnin {

inline std::string counters_text(const std::string& when, int corrected, int throttled, int checks,
                                 int killed = 3) {
  return fmt::format(
      "cupel-begin: counters {0}\n"
      "/sys/devices/system/edac/mc/mc0/ue_count:0\n"
      "/sys/devices/system/edac/mc/mc0/ce_count:{1}\n"
      "/sys/devices/system/edac/mc/mc0/dimm0/dimm_label:A5\n"
      "/sys/devices/system/edac/mc/mc0/dimm0/dimm_ue_count:0\n"
      "/sys/devices/system/edac/mc/mc0/dimm0/dimm_ce_count:{1}\n"
      "/sys/devices/system/edac/mc/mc0/dimm1/dimm_label:B5\n"
      "/sys/devices/system/edac/mc/mc0/dimm1/dimm_ue_count:0\n"
      "/sys/devices/system/edac/mc/mc0/dimm1/dimm_ce_count:0\n"
      "/sys/devices/system/cpu/cpu0/topology/physical_package_id:0\n"
      "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count:2\n"
      "/sys/devices/system/cpu/cpu1/topology/physical_package_id:1\n"
      "/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count:{2}\n"
      "/proc/interrupts: MCE:          {3}          0   Machine check exceptions\n"
      "/proc/vmstat:oom_kill {4}\n"
      "cupel-end\n",
      when, corrected, throttled, checks, killed);
}

/// Two sockets of one core with two threads: 0 and 2 are cpu0's, 1 and 3 cpu1's.
inline std::string cpu_text() {
  std::string text = "cupel-asked-seconds: 2\ncupel-begin: topology\n";
  for (int cpu = 0; cpu < 4; ++cpu)
    text += fmt::format(
        "/proc/cpuinfo:processor\t: {}\n/proc/cpuinfo:physical id\t: {}\n"
        "/proc/cpuinfo:core id\t\t: {}\n",
        cpu, cpu % 2, cpu % 2 * 4);
  text +=
      "/sys/devices/system/cpu/cpu0/cpufreq/base_frequency:2000000\ncupel-end\n"
      "cupel-sensor: /sys/class/hwmon/hwmon1/temp1_input Package id 0\n"
      "cupel-sensor: /sys/class/hwmon/hwmon2/temp1_input Package id 1\n";
  text += counters_text("before", 4, 10, 0);
  text += "cupel-begin: samples\n";
  for (const auto* clocks : {"800.0 800.0 800.0 800.0", "3000.0 1200.0 2900.0 1300.0",
                             "3000.0 1200.0 2900.0 1300.0", "3000.0 3000.0 2900.0 1300.0"})
    text += fmt::format(
        "cupel-mhz:  {}\n/sys/class/hwmon/hwmon1/temp1_input:61000\n"
        "/sys/class/hwmon/hwmon2/temp1_input:81000\n",
        clocks);
  text += "cupel-end\ncupel-begin: cores\n";
  for (int cpu = 0; cpu < 4; ++cpu) text += fmt::format("cupel-ended: {} 0\n", cpu);
  for (int cpu = 0; cpu < 4; ++cpu)
    text += fmt::format(
        "{0}:stress-ng: metrc: [{1}] stressor       bogo ops real time  usr time  sys time   bogo "
        "ops/s     bogo ops/s\n"
        "{0}:stress-ng: metrc: [{1}] cpu                3372      2.00      1.96      0.00       "
        "1684.50        1716.83\n",
        cpu, 101 + cpu);
  return text + "cupel-end\n" + counters_text("after", 4, 17, 1);
}

/// Two NUMA nodes, 1 GiB asked of each.
inline std::string memory_text() {
  std::string text = "cupel-asked-seconds: 2\ncupel-binding: numactl\n";
  text += counters_text("before", 4, 10, 0);
  text += "cupel-begin: asked 0\n1048576\ncupel-end\ncupel-begin: asked 1\n1048576\ncupel-end\n";
  const auto pages = [](int kib) {
    std::string all;
    for (int node = 0; node < 2; ++node)
      all += fmt::format("/sys/devices/system/node/node{0}/meminfo:Node {0} AnonPages:  {1} kB\n",
                         node, kib);
    return all;
  };
  text += "cupel-begin: resident before\n" + pages(524288) + "cupel-end\n";
  text += "cupel-begin: resident\n" + pages(1000000) + pages(1572864) + "cupel-end\n";
  const std::string header =
      "stress-ng: metrc: [14441] stressor       bogo ops real time  usr time  sys time   bogo "
      "ops/s     bogo ops/s CPU used per       RSS Max\n";
  for (int node = 0; node < 2; ++node)
    text += fmt::format(
        "cupel-begin: vm {}\ncupel-status: 0\n{}stress-ng: metrc: [14867] vm               158384"
        "      2.00      1.49      0.52     79093.23       79112.33        49.99         20612\n"
        "cupel-end\n",
        node, header);
  for (int node = 0; node < 2; ++node)
    text += fmt::format(
        "cupel-begin: stream {}\ncupel-status: 0\n"
        "stress-ng: info:  [14442] stream: memory rate: 209.56 MB read/sec, 139.71 MB write/sec, "
        "18.31 Mflop/sec (instance 0)\n{}"
        "stress-ng: metrc: [14441] stream                2    112.04      2.96      4.48         "
        "0.02           0.27         3.32       1600008\n"
        "stress-ng: metrc: [14441] miscellaneous metrics:\n"
        "stress-ng: metrc: [14441] stream             33684.10 memory read rate (MB per sec) "
        "(geometic mean of 2 instances)\n"
        "stress-ng: metrc: [14441] stream             22456.10 memory write rate (MB per sec) "
        "(geometic mean of 2 instances)\n"
        "stress-ng: metrc: [14441] stream                18.39 memory rate (Mflop per sec) "
        "(geometic mean of 2 instances)\ncupel-end\n",
        node, header);
  return text + counters_text("after", 7, 10, 0);
}

/// Two GPUs that are warm after a minute.
inline std::string thermal_text() {
  std::string text =
      "cupel-asked-seconds: 60\ncupel-asked-window: 20\ncupel-load: gpu\n"
      "cupel-sensor: /sys/class/hwmon/hwmon1/temp1_input Package id 0\n"
      "cupel-begin: samples\n";
  for (int at = 4; at <= 60; at += 4)
    text += fmt::format(
        "cupel-at: {}\n"
        "index, temperature.gpu, temperature.memory, temperature.gpu.tlimit, power.draw [W]\n"
        "0, {}, 55, 26, 631.95\n1, {}, 60, 11, 640.10\n"
        "/sys/class/hwmon/hwmon1/temp1_input:61000\n",
        at, at < 20 ? 40 : 60, at < 20 ? 45 : 75);
  return text +
         "cupel-end\ncupel-begin: inlet after\nGPU0 Temp,58,degrees C,ok\nInlet Temp,23,degrees "
         "C,ok\nPSU1 Inlet,19,degrees C,ok\nPCH Temp,na,degrees C,ns\ncupel-end\n"
         "cupel-begin: load 0\n"
         R"({"kind":"start","program":"cupel-burn","version":"0.1.0","protocol":1})"
         "\n"
         R"({"kind":"end","seconds":60.1,"faults":0,"complete":true,"stopped":false})"
         "\ncupel-end\ncupel-all-told\n";
}

}  // namespace cupel::burnin
