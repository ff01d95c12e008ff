#pragma once
// The synthetic model that `train` trains: how large, how much arithmetic a step is, what share of
// the chip's peak that comes to.
#include <cstdint>
#include <optional>

namespace cupel::burn {

struct Transformer {
  std::uint64_t layers = 8;
  std::uint64_t width = 4096;                  // a multiple of 2048
  std::uint64_t sequence = 2048;               // tokens; a multiple of 2048
  std::uint64_t batch = 4;                     // sequences of each GPU
  static constexpr std::uint64_t kHead = 128;  // width of a head

  std::uint64_t heads() const { return width / kHead; }
  std::uint64_t tokens() const { return batch * sequence; }
  /// QKV (3 w^2), its output (w^2), and the two of the perceptron (4 w^2 each).
  std::uint64_t layer_parameters() const { return 12 * width * width; }
  std::uint64_t parameters() const { return layers * layer_parameters(); }
  /// Of one step on one GPU, forwards and backwards, as it is done: attention is not halved for the
  /// mask, since the products are done in full.
  /// Source: PaLM (Chowdhery et al. 2022), appendix B.
  double operations() const;
  /// Of GPU memory, without cuBLASLt's workspace.
  std::uint64_t bytes() const;
};

/// With as many layers as fit, at most `requested.layers`; nothing: not even one.
std::optional<Transformer> fitting(Transformer requested, std::uint64_t free_bytes);

/// In percent. `peak` in TFLOP/s, of one GPU.
double utilisation(double operations, double seconds, double peak);

/// What a step came to, bit for bit.
struct StepResult {
  double loss = 0;
  std::uint64_t gradients = 0;  // checksum of this GPU's own, before they are added up
  std::uint64_t summed = 0;     // after
  double own_seconds = 0;       // forwards and backwards, without waiting for any other GPU

  /// Bits are compared, and no times: a loss that is NaN twice is the same.
  bool same_as(const StepResult& other) const;
};

}  // namespace cupel::burn
