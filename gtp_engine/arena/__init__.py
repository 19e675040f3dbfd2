"""Engines against each other.

match       two engine commands, many games: pairs of colours, clocks, referee, Elo and SPRT
tournament  many engines, round after round, each pair a match
benchmark   how fast this machine searches, and how fast other engines do beside it
elo         ratings from results, with their intervals
"""
