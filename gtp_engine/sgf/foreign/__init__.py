"""What others write in place of SGF in UTF-8.

formats    records in GIB, NGF and UGF as SGF
encodings  which encoding a record has, its bytes as text and back
"""
