#include "burnin/agent/burn/transformer.h"

#include <bit>

namespace cupel::burn {

double Transformer::operations() const {
  const auto tokens_ = static_cast<double>(tokens());
  const double attention = 12.0 * static_cast<double>(layers * width * sequence);
  return tokens_ * (6.0 * static_cast<double>(parameters()) + attention);
}

std::uint64_t Transformer::bytes() const {
  const auto line = 2 * width * tokens();  // an activation as wide as the model, bf16
  const auto scores = 2 * batch * heads() * sequence * sequence;
  // Saved of a layer: two norms, qkv, the heads' output, both of the perceptron; the scores.
  const auto saved = 14 * line + scores + 8 * tokens();
  // Weight and gradient in bf16; master weight and the optimiser's two in fp32.
  const auto weights = 16 * layer_parameters();
  const auto passing = 16 * line + scores;
  return layers * (saved + weights) + passing;
}

std::optional<Transformer> fitting(Transformer requested, std::uint64_t free_bytes) {
  while (requested.layers > 0 && requested.bytes() > free_bytes) --requested.layers;
  if (requested.layers == 0) return std::nullopt;
  return requested;
}

double utilisation(double operations, double seconds, double peak) {
  return 100 * operations / (seconds * peak * 1e12);
}

bool StepResult::same_as(const StepResult& other) const {
  return std::bit_cast<std::uint64_t>(loss) == std::bit_cast<std::uint64_t>(other.loss) &&
         gradients == other.gradients && summed == other.summed;
}

}  // namespace cupel::burn
