"""The loss: least where a network agrees with its teacher, in the units in which the engine decodes a network."""

import pytest
from training.needs_torch import torch
from training.toy import count_stones, tiny_module, unpacked

from gtp_engine.nn.metadata import Scales
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.distillation.batches import SampleBatch
from gtp_engine.training.distillation.losses import LOSS_WEIGHTS, losses_of, predictions_of
from gtp_engine.training.distillation.run import figures_of
from gtp_engine.training.nets.network_module import Outputs

SCALES = Scales(score_mean=20.0, score_stdev=30.0, lead=10.0)


@pytest.fixture
def batch() -> SampleBatch:
    return unpacked(count_stones(4, 3, 6, seed=1), (4, 3))


def perfect(batch: SampleBatch) -> Outputs:
    """Return the outputs of a network that agrees with the teacher."""
    mean, stdev, lead = batch.score[:, :3].unbind(dim=1)
    raw_stdev = torch.log(torch.expm1(stdev / SCALES.score_stdev))
    misc = torch.stack([mean / SCALES.score_mean, raw_stdev, lead / SCALES.lead, torch.zeros_like(mean)], dim=1)
    return Outputs(
        policy=batch.policy.clamp(min=1e-6).log()[:, None] + 3.0,
        value=batch.value.clamp(min=1e-6).log() - 2.0,
        misc=misc,
        ownership=(batch.ownership * 0.9999).atanh(),
    )


def total(losses: dict[str, torch.Tensor]) -> float:
    return sum(weight * losses[name].item() for name, weight in LOSS_WEIGHTS.items())


def test_a_network_that_agrees_has_the_least_loss(batch: SampleBatch) -> None:
    outputs = perfect(batch)
    found = losses_of(outputs, batch, SCALES, 8)
    optimistic = outputs._replace(policy=torch.cat([outputs.policy, torch.randn_like(outputs.policy)], dim=1))
    assert losses_of(optimistic, batch, SCALES, 8)["policy"] == found["policy"], "that of the first channel"
    entropy = -(batch.policy * batch.policy.clamp(min=1e-9).log()).sum(dim=1).mean()
    assert found["policy"].item() == pytest.approx(entropy.item(), abs=1e-3)
    assert [found[name].item() for name in ("score_mean", "score_stdev", "lead")] == pytest.approx([0.0] * 3, abs=1e-6)
    for name in ("policy", "value", "misc", "ownership"):
        worse = perfect(batch)
        noise = torch.randn(getattr(worse, name).shape, generator=torch.Generator().manual_seed(1))
        worse = worse._replace(**{name: getattr(worse, name) + noise})
        assert total(losses_of(worse, batch, SCALES, 8)) > total(found), name


def test_predictions_are_in_the_units_of_a_batch(batch: SampleBatch) -> None:
    predictions = predictions_of(perfect(batch), batch, SCALES, 8)
    torch.testing.assert_close(predictions.log_policy.exp(), batch.policy, atol=1e-3, rtol=0)
    torch.testing.assert_close(predictions.log_value.exp(), batch.value, atol=1e-3, rtol=0)
    torch.testing.assert_close(predictions.score, batch.score[:, :3], atol=1e-4, rtol=0)
    torch.testing.assert_close(predictions.ownership.tanh(), batch.ownership, atol=1e-3, rtol=0)


@pytest.mark.parametrize("plane", [1, 2, 6])
def test_stones_and_ko_get_no_probability(batch: SampleBatch, plane: int) -> None:
    batch.planes[:] = 0
    batch.planes[:, plane, 1, 2] = 1
    outputs = perfect(batch)
    outputs.policy[:] = 0.0
    outputs.policy[:, :, 6] = 50.0
    probabilities = predictions_of(outputs, batch, SCALES, 8).log_policy.exp()
    assert probabilities[:, 6].max() == 0.0
    torch.testing.assert_close(probabilities.sum(dim=1), torch.ones(6))
    assert probabilities[:, -1].min() == pytest.approx(1 / 12), "the pass and eleven points share alike"


def test_the_loss_is_the_weighted_sum(batch: SampleBatch) -> None:
    machine, module = choose_machine("cpu", "float32", threads=1), tiny_module()
    loss, *heads = figures_of(module, batch, machine, LOSS_WEIGHTS).tolist()
    losses = losses_of(machine.run(module, batch.planes, batch.globals), batch, module.network.scales, 8)
    assert heads == [losses[name].item() for name in LOSS_WEIGHTS] and len(losses) == len(heads)
    assert loss == pytest.approx(total(losses), rel=1e-5)


def test_what_a_teacher_has_no_output_for_costs_nothing(batch: SampleBatch) -> None:
    """Positions without a label are left out, and so are a network's missing outputs."""
    outputs = perfect(batch)
    outputs = outputs._replace(misc=torch.cat([outputs.misc, torch.randn(6, 2)], dim=1))
    unknown = losses_of(outputs, batch, SCALES, 14)
    assert [unknown[name] for name in [*LOSS_WEIGHTS][-4:]] == [0] * 4
    labelled = batch._replace(score=batch.score.clone())
    labelled.score[0, 3:] = torch.tensor([40.0, 0.3, 2.0])
    found = losses_of(outputs, labelled, SCALES, 14)
    assert min(found["time_left"], found["winloss_error"], found["score_error"]) > 0
    assert losses_of(outputs, labelled, SCALES, 8)["time_left"] == 0


@pytest.mark.parametrize(
    ("version", "errors"),
    [(9, (2.12693, 21.2693)), (10, (1.45840, 14.5840)), (13, (1.45840, 14.5840)), (14, (1.31326, 13.1326))],
)
def test_errors_have_the_units_of_the_version(batch: SampleBatch, version: int, errors: tuple[float, float]) -> None:
    """For a raw output of 2: softplus(2) = 2.12693 and softplus(1) = 1.31326, as `nn.decode` has them."""
    outputs = perfect(batch)._replace(misc=torch.full((6, 6), 2.0))
    found = predictions_of(outputs, batch, Scales(winloss_error=1.0, score_error=100.0), version).score[0, 4:]
    assert found.tolist() == pytest.approx(errors, rel=1e-5)
