#pragma once
// What goes wrong on the machine of the stand-in driver. The environment says it:
//   FAKE_GPUS=2            how many there are, all alike
//   FAKE_GPU_MEMORY=16384  MiB of each
//   FAKE_DRIVER=13000      as cuDriverGetVersion() reports it
//   FAKE_WRONG=1:hbm_check:3   gpu1 has one wrong bit in what its 3rd hbm_check is given; 0: in
//   each FAKE_DIES=1:hbm_check:3:214  gpu1 dies at its 3rd hbm_check: all calls return that status
//   FAKE_HANGS=1:hbm_check:3     that one never ends, nor what gpu1 has to do after it
//   FAKE_CRASHES=1:hbm_check:3   the driver ends the process that gives gpu1 its 3rd
//   FAKE_REFUSES=1               gpu1 has no context for anybody
//   FAKE_WANTS_EAGER=1           starts for those alone who have kernels loaded at once
//   FAKE_STUCK=1:hbm_check:3     all threads of that process stand still for good
//   FAKE_SLOW=1:hbm_check:0:50   each takes gpu1 so many milliseconds more
// CUDA_VISIBLE_DEVICES may name one of them by its UUID, as of NVIDIA's driver.
#include <cstddef>
#include <optional>
#include <string>

namespace cupel::burn::fake {

struct Fault {
  int gpu = 0;
  std::string what{};  // a kernel, "product" of cuBLASLt, or "sum" of NCCL
  int which = 0;
  int status = 0;

  bool is_at(int of_gpu, const std::string& kind, int count) const {
    return gpu == of_gpu && what == kind && (which == 0 || which == count);
  }
};

struct Faults {
  int gpus = 2;
  std::size_t memory = std::size_t{16} << 30;
  int driver = 13'000;
  std::optional<Fault> wrong{};
  std::optional<Fault> dies{};
  std::optional<Fault> hangs{};
  std::optional<Fault> crashes{};
  std::optional<Fault> stuck{};
  std::optional<int> refuses{};
  bool wants_eager = false;
  std::optional<int> only{};    // the one that this process sees
  std::optional<Fault> slow{};  // status: milliseconds
};

/// Read once.
const Faults& faults();

}  // namespace cupel::burn::fake
